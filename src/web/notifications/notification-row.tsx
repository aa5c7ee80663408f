import { Link } from '@tanstack/react-router'
import {
  Archive,
  ArchiveRestore,
  CalendarClock,
  HardDriveDownload,
  Lock,
  LockOpen,
  type LucideIcon,
  UserPlus,
} from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import type { Notification } from '../api/notifications.ts'
import { classNames } from '../components/class-names.ts'
import { RelativeTime } from '../components/relative-time.tsx'

type Kind = Notification['kind']

const icons: Record<Kind, LucideIcon> = {
  'install.completed': HardDriveDownload,
  'install.failed': HardDriveDownload,
  'backup.completed': Archive,
  'backup.failed': Archive,
  'restore.completed': ArchiveRestore,
  'restore.failed': ArchiveRestore,
  'schedule.failed': CalendarClock,
  'server.invited': UserPlus,
  'server.suspended': Lock,
  'server.unsuspended': LockOpen,
}

const isBad = (kind: Kind) => kind.endsWith('.failed') || kind === 'server.suspended'

/** Returns the page that a notification leads to. */
function pageOf({ kind, server, properties }: Notification): string {
  const base = `/server/${server.identifier}`
  if (kind === 'schedule.failed') return `${base}/schedules/${Number(properties.schedule_id)}`
  return kind.startsWith('backup.') || kind.startsWith('restore.') ? `${base}/backups` : base
}

/** A notification that leads to what it is about. */
export function NotificationRow({
  notification,
  onOpen,
}: {
  notification: Notification
  onOpen: () => void
}) {
  const { t } = useTranslation('notifications')
  const { kind, server, properties, count, created_at: at } = notification
  const Icon = icons[kind]
  const isUnread = notification.read_at === null
  const name = typeof properties.name === 'string' ? properties.name : null
  return (
    <li>
      <Link
        to={pageOf(notification) as '/'}
        onClick={onOpen}
        className="flex items-start gap-3 px-4 py-3 text-sm -outline-offset-2 hover:bg-raised"
      >
        <span
          className={classNames(
            'flex size-8 shrink-0 items-center justify-center rounded-full',
            isBad(kind) ? 'bg-bad-soft text-bad' : 'bg-brand-soft text-brand-text',
          )}
        >
          <Icon aria-hidden className="size-4" />
        </span>
        <span className="flex min-w-0 flex-1 flex-col">
          <span className={isUnread ? 'font-semibold' : 'font-medium'}>
            {t(`kind.${kind}`)}
            {count > 1 && <span className="ms-1.5 font-normal text-muted">{t('times', { count })}</span>}
          </span>
          <span className="wrap-anywhere text-muted">
            {server.name}
            {name && ` · ${name}`}
          </span>
          <span className="mt-0.5 text-xs text-muted">
            <RelativeTime at={at} />
          </span>
        </span>
        {isUnread && (
          <span className="mt-1.5 size-2 shrink-0 rounded-full bg-brand">
            <span className="sr-only">{t('unread')}</span>
          </span>
        )}
      </Link>
    </li>
  )
}
