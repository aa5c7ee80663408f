import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { PageHeader } from '../../components/card.tsx'
import { TextField } from '../../components/field.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Lock } from 'lucide-react'
import { useFilePermissions } from '../files/files-context.tsx'
import { joinPath } from '../files/paths.ts'
import { PathBreadcrumbs } from '../files/path-breadcrumbs.tsx'
import { useServer } from '../server-context.tsx'
import { FileEditor } from './file-editor.tsx'
import type { TextFile } from './text-file.ts'

const emptyFile: TextFile = { text: '', lineBreak: '\n', hasByteOrderMark: false }

/** Shows the editor for a new file, which is created when it is saved. */
export function NewFilePage({ directory }: { directory: string }) {
  const { t } = useTranslation('files')
  const { id, server } = useServer()
  const rights = useFilePermissions()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [place] = useState(() => location.href)
  usePageTitle(t('new_file'), server.name)
  const isName = name.trim() !== '' && !name.includes('/') && name !== '.' && name !== '..'
  const open = (file: string) => {
    // If the user has moved on while the file was saved, they stay where they are.
    if (location.href !== place) return
    void navigate({
      to: '/server/$server/files/edit',
      params: { server: id },
      search: { file },
      replace: true,
      ignoreBlocker: true,
    })
  }
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div>
        <PageHeader title={t('new_file')} />
        <PathBreadcrumbs path={directory} />
      </div>
      {rights.create ? (
        <>
          <TextField
            className="max-w-md"
            label={t('file_name')}
            placeholder="server.properties"
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={name !== '' && !isName ? t('no_name') : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
          />
          <FileEditor
            file={emptyFile}
            stamp="missing"
            path={isName ? joinPath(directory, name) : null}
            onSaved={open}
          />
        </>
      ) : (
        <EmptyState
          icon={Lock}
          title={t('strings:error.forbidden')}
          text={t('strings:failure.advice_forbidden')}
        />
      )}
    </div>
  )
}
