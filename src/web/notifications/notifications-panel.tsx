import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { BellOff, CheckCheck, Settings } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactElement, useId, useState } from 'react'
import { useLoadedTexts, useTranslation } from '../app/use-translation.ts'
import { markAsRead, notificationsQuery } from '../api/notifications.ts'
import { Button, buttonStyle, IconButton } from '../components/button.tsx'
import { ErrorState, Skeleton } from '../components/states.tsx'
import { toastError } from '../components/toast.tsx'
import { NotificationRow } from './notification-row.tsx'

/** The notifications in a panel below the bell, open when it is rendered first. */
export function NotificationsPanel({ trigger }: { trigger: ReactElement }) {
  const { pathname } = useLocation()
  // Open on one page only: it would cover the next one.
  const [openOn, setOpenOn] = useState<string | null>(pathname)
  const setIsOpen = (isOpen: boolean) => setOpenOn(isOpen ? pathname : null)
  const titleId = useId()
  return (
    <Popover.Root open={openOn === pathname} onOpenChange={setIsOpen}>
      <Popover.Anchor asChild>
        <span className="inline-flex">
          <Popover.Trigger asChild>{trigger}</Popover.Trigger>
        </span>
      </Popover.Anchor>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-labelledby={titleId}
          className="z-50 flex max-h-[min(36rem,80dvh)] w-[min(24rem,calc(100vw-1rem))] flex-col overflow-hidden rounded-card border border-line bg-surface shadow-xl"
        >
          <PanelContent titleId={titleId} onClose={() => setIsOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function PanelContent({ titleId, onClose }: { titleId: string; onClose: () => void }) {
  const { t } = useTranslation()
  // The panel is opened on any page.
  const areTextsLoaded = useLoadedTexts('notifications')
  const list = useInfiniteQuery({ ...notificationsQuery, refetchOnMount: 'always' })
  const reading = useReading()
  const unread = list.data?.pages[0]?.unread ?? 0
  return (
    <>
      <div className="flex min-h-13 items-center justify-between gap-3 border-b border-line ps-4 pe-2">
        <h2 id={titleId} className="font-semibold">
          {t('server:nav.notifications')}
        </h2>
        {areTextsLoaded && unread > 0 && (
          <IconButton
            icon={CheckCheck}
            label={t('notifications:read_all')}
            busy={reading.isPending && reading.variables === null}
            onClick={() => reading.mutate(null)}
          />
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {areTextsLoaded ? <PanelList onRead={(id) => reading.mutate([id])} onClose={onClose} /> : <Waiting />}
      </div>
      {areTextsLoaded && (
        <div className="border-t border-line bg-canvas p-1.5">
          <Link
            to="/account"
            hash="notifications"
            onClick={onClose}
            className={`${buttonStyle('quiet')} w-full hover:bg-raised`}
          >
            <Settings aria-hidden className="size-4" /> {t('notifications:settings')}
          </Link>
        </div>
      )}
    </>
  )
}

const Waiting = () => (
  <div className="p-3">
    <Skeleton rows={3} className="h-12" />
  </div>
)

function PanelList({ onRead, onClose }: { onRead: (id: number) => void; onClose: () => void }) {
  const { t } = useTranslation('notifications')
  const list = useInfiniteQuery(notificationsQuery)
  if (!list.data)
    return list.error ? (
      <div className="p-3">
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      </div>
    ) : (
      <Waiting />
    )
  const rows = list.data.pages.flatMap((page) => page.rows)
  if (rows.length === 0) return <NoNotifications />
  return (
    <>
      <ul aria-label={t('title')} className="divide-y divide-line">
        {rows.map((row) => (
          <NotificationRow
            key={row.id}
            notification={row}
            onOpen={() => {
              if (row.read_at === null) onRead(row.id)
              onClose()
            }}
          />
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="flex justify-center border-t border-line p-2">
          <Button variant="quiet" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {t('more')}
          </Button>
        </div>
      )}
    </>
  )
}

function NoNotifications() {
  const { t } = useTranslation('notifications')
  return (
    <div className="flex flex-col items-center gap-1.5 px-6 py-10 text-center">
      <BellOff aria-hidden className="size-7 text-muted" strokeWidth={1.5} />
      <p className="mt-1 font-medium">{t('empty')}</p>
      <p className="text-sm text-muted">{t('empty_text')}</p>
    </div>
  )
}

/** Marks as read, at once on the page; null stands for all. */
function useReading() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const { queryKey } = notificationsQuery
  return useMutation({
    mutationFn: markAsRead,
    onMutate: async (ids: number[] | null) => {
      await queries.cancelQueries({ queryKey })
      const now = new Date().toISOString()
      queries.setQueryData(
        queryKey,
        (data) =>
          data && {
            ...data,
            pages: data.pages.map((page) => ({
              ...page,
              unread: ids ? Math.max(0, page.unread - ids.length) : 0,
              rows: page.rows.map((row) =>
                !ids || ids.includes(row.id) ? { ...row, read_at: row.read_at ?? now } : row,
              ),
            })),
          },
      )
    },
    onError: (error) => toastError(error, t('notifications:read_failed')),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
}
