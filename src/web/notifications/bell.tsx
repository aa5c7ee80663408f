import { useInfiniteQuery } from '@tanstack/react-query'
import { Bell } from 'lucide-react'
import { type ComponentProps, lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { notificationsQuery } from '../api/notifications.ts'
import { site } from '../app/site.ts'
import { IconButton } from '../components/button.tsx'

const load = () => import('./notifications-panel.tsx')
const preload = () => void load().catch(() => undefined)
const NotificationsPanel = lazy(async () => ({ default: (await load()).NotificationsPanel }))

/** Milliseconds after which the first request is made on pages that are never idle. */
const maxIdleWaitMs = 3000
/** Numbers above it do not fit into the mark. */
const maxShownCount = 9

/** Shows how many notifications are unread, and opens them; not to those who act for a user. */
export const NotificationBell = () => (site.acting ? null : <OwnBell />)

function OwnBell() {
  const [isOpened, setIsOpened] = useState(false)
  const unread = useUnreadCount()
  const button = <BellButton unread={unread} />
  const closed = (
    <BellButton
      unread={unread}
      aria-haspopup="dialog"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setIsOpened(true)}
    />
  )
  if (!isOpened) return closed
  return (
    <Suspense fallback={closed}>
      <NotificationsPanel trigger={button} />
    </Suspense>
  )
}

/** Asks once what the page needs has been loaded. */
function useUnreadCount(): number {
  const [isIdle, setIsIdle] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsIdle(true), maxIdleWaitMs)
    const handle = 'requestIdleCallback' in window ? requestIdleCallback(() => setIsIdle(true)) : undefined
    return () => {
      clearTimeout(timer)
      if (handle !== undefined) cancelIdleCallback(handle)
    }
  }, [])
  const { data } = useInfiniteQuery({ ...notificationsQuery, enabled: isIdle })
  return data?.pages[0]?.unread ?? 0
}

function BellButton({ unread, ...rest }: { unread: number } & Partial<ComponentProps<typeof IconButton>>) {
  const { t } = useTranslation('server')
  return (
    <span className="relative inline-flex">
      <IconButton
        {...rest}
        icon={Bell}
        label={unread > 0 ? t('nav.notifications_unread', { count: unread }) : t('nav.notifications')}
      />
      {unread > 0 && (
        <span
          aria-hidden
          className="pointer-events-none absolute end-0 top-0 flex h-4.5 min-w-4.5 items-center justify-center rounded-full bg-bad-strong px-1 text-[0.6875rem] font-semibold text-white tabular-nums ring-2 ring-surface"
        >
          {unread > maxShownCount ? `${maxShownCount}+` : unread}
        </span>
      )}
    </span>
  )
}
