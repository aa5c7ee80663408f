import { PackageOpen } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Checkbox } from '../../components/switch.tsx'
import { AdminAction } from '../admin-action.tsx'
import type { MoveIn } from '../resources.ts'

/** Begins to write what was checked. */
export function StartMove({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const [isSince, setSince] = useState(false)
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-card border border-line bg-surface px-4 py-3 sm:px-5">
      {move.has_moved ? (
        <Checkbox
          className="min-w-0 flex-1 basis-64"
          label={t('move.since')}
          hint={t('move.since_hint')}
          checked={isSince}
          onChange={setSince}
        />
      ) : (
        <p className="min-w-0 flex-1 basis-64 text-sm text-muted">{t('move.ask')}</p>
      )}
      <AdminAction
        icon={PackageOpen}
        variant="primary"
        label={t('move.start')}
        run={() => adminSend('POST', '/move-in/start', { since: isSince })}
        confirm={{ title: t('move.start'), text: t('move.ask'), isDanger: false }}
      />
    </div>
  )
}
