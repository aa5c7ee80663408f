import { useQueryClient } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { type Backup, type Backups, backupsKey } from '../../api/backups.ts'
import { formatDateTime, formatRelative } from '../../app/formats.ts'
import { useServer } from '../server-context.tsx'

const maxShownPatterns = 3

/** Says before a restoration what it would cost: changes since the backup, other files, and what it never held. */
export function RestoreLosses({ backup, truncate }: { backup: Backup; truncate: boolean }) {
  const { t } = useTranslation('backups')
  const { id } = useServer()
  const at = backup.created_at
  const rows = useQueryClient().getQueryData<Backups>(backupsKey(id))?.rows ?? []
  const newer = rows.filter(({ is_successful, created_at }) => is_successful && created_at > at)
  const [latest] = newer
  const files = backup.ignored_files.slice(0, maxShownPatterns).join(', ')
  return (
    <section
      aria-label={t('lost.title')}
      className="rounded-control bg-warn-soft px-3 py-2.5 text-sm text-warn"
    >
      <p className="flex items-center gap-2 font-semibold">
        <TriangleAlert aria-hidden className="size-4 shrink-0" />
        {t('lost.title')}
      </p>
      <ul className="mt-1.5 flex list-disc flex-col gap-1 ps-5 wrap-anywhere">
        <li>{t('lost.changes', { time: formatDateTime(at), ago: formatRelative(at) })}</li>
        {truncate ? <li>{t('lost.new_deleted')}</li> : null}
        {truncate && files !== '' && <li>{t('lost.ignored', { files })}</li>}
      </ul>
      {!truncate && <p className="mt-1.5">{t('lost.new_kept')}</p>}
      {latest && (
        <p className="mt-1.5">
          {t('lost.newer', { count: newer.length, ago: formatRelative(latest.created_at) })}
        </p>
      )}
    </section>
  )
}
