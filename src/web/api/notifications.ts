import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type {
  NotificationMailResource,
  NotificationResource,
} from '../../surfaces/client/resources/notification.ts'
import { abortedBy, clientApi, done, json } from './client.ts'
import { type AttributesOf, rowsOf } from './resources.ts'

export type Notification = AttributesOf<typeof NotificationResource>
export type MailChoice = AttributesOf<typeof NotificationMailResource>

const { notifications } = clientApi.account
const key = ['notifications'] as const
const refetchIntervalMs = 2 * 60_000
const staleTimeMs = 60_000
const perPage = 20

/** The notifications of the user, newest first, with how many are unread; asked for again while the page is visible. */
export const notificationsQuery = infiniteQueryOptions({
  queryKey: [...key, 'list'],
  queryFn: async ({ signal, pageParam: page }) => {
    const answer = await json(notifications.$get({ query: { page, per_page: perPage } }, abortedBy(signal)))
    const { unread_count: unread, pagination } = answer.meta
    return { rows: rowsOf<Notification>(answer), unread, isLast: page >= pagination.total_pages }
  },
  initialPageParam: 1,
  getNextPageParam: ({ isLast }, pages) => (isLast ? null : pages.length + 1),
  staleTime: staleTimeMs,
  refetchInterval: refetchIntervalMs,
  refetchOnWindowFocus: true,
})

/** Marks notifications as read; all without ids. */
export const markAsRead = (ids: number[] | null) => done(notifications.read.$post({ json: { ids } }))

/** About which kinds the user gets mails. */
export const mailChoicesQuery = queryOptions({
  queryKey: [...key, 'mail'],
  queryFn: ({ signal }) => json(notifications.mail.$get({}, abortedBy(signal))).then(rowsOf<MailChoice>),
})

export const changeMailChoice = (kind: MailChoice['kind'], isOn: boolean) =>
  done(notifications.mail.$put({ json: { mail: { [kind]: isOn } } }))
