import { useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { controlStyle } from '../../../components/field.tsx'
import { LazyDialog } from '../../../components/lazy-dialog.tsx'
import { useServer } from '../../server-context.tsx'
import { CommandHistory } from './command-history.tsx'
import { Snippets } from './snippets.tsx'

type Props = {
  /** What stands in the command input. */
  draft: string
  onChoose: (command: string) => void
  onClose: () => void
}

/** Commands to choose from: snippets of the egg and of the user, and what all users have sent. */
export default function CommandsDialog({ draft, onChoose, onClose }: Props) {
  const { t } = useTranslation('helpers')
  const { can } = useServer()
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  return (
    <LazyDialog open onOpenChange={onClose} title={t('commands.title')}>
      <input
        type="search"
        aria-label={t('commands.search')}
        placeholder={t('commands.search')}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
        autoComplete="off"
        spellCheck={false}
        className={controlStyle}
      />
      <div className="mt-4 flex flex-col gap-6">
        <Snippets wanted={wanted} draft={draft} onChoose={onChoose} />
        {can('activity.read') && <CommandHistory wanted={wanted} onChoose={onChoose} />}
      </div>
    </LazyDialog>
  )
}
