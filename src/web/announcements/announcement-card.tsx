import { Info, type LucideIcon, TriangleAlert, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Announcement } from '../api/announcements.ts'
import { classNames } from '../components/class-names.ts'
import { AnnouncementBody } from './announcement-body.tsx'

const looks: Record<Announcement['level'], { icon: LucideIcon; frame: string; ink: string }> = {
  info: { icon: Info, frame: 'bg-info-soft', ink: 'text-info' },
  warning: { icon: TriangleAlert, frame: 'bg-warn-soft', ink: 'text-warn' },
  maintenance: { icon: Wrench, frame: 'bg-warn-soft', ink: 'text-warn' },
}

/** One announcement as users see it. */
export function AnnouncementCard({
  level,
  title,
  body,
  note,
  action,
}: Pick<Announcement, 'level' | 'title' | 'body'> & { note?: ReactNode; action?: ReactNode }) {
  const { icon: Icon, frame, ink } = looks[level]
  return (
    <div className={classNames('flex items-start gap-3 rounded-card py-2 pe-2 ps-4 text-sm', frame)}>
      <Icon aria-hidden className={classNames('mt-2 size-4 shrink-0', ink)} />
      <div className="min-w-0 flex-1 py-1.5 wrap-anywhere">
        <p className={classNames('font-semibold', ink)}>{title}</p>
        <AnnouncementBody text={body} />
        {note && <p className="mt-1 text-xs text-muted">{note}</p>}
      </div>
      {action}
    </div>
  )
}
