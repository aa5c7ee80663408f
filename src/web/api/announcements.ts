import { queryOptions } from '@tanstack/react-query'
import type { ShownAnnouncementResource } from '../../surfaces/client/resources/announcement.ts'
import { site } from '../app/site.ts'
import { abortedBy, clientApi, done, json } from './client.ts'
import { type AttributesOf, rowsOf } from './resources.ts'

export type Announcement = AttributesOf<typeof ShownAnnouncementResource>

/** A page that stays open finds out this often. */
const refetchIntervalMs = 10 * 60_000

/** The announcements for the user: those that the page came with, until it is older. */
export const announcementsQuery = queryOptions({
  queryKey: ['announcements'],
  queryFn: ({ signal }) =>
    json(clientApi.account.announcements.$get({}, abortedBy(signal))).then(rowsOf<Announcement>),
  initialData: site.announcements,
  staleTime: refetchIntervalMs,
  refetchInterval: refetchIntervalMs,
  enabled: !site.acting,
})

/** Dismisses an announcement for good. */
export const dismissAnnouncement = (id: number) =>
  done(clientApi.account.announcements[':announcement'].$delete({ param: { announcement: String(id) } }))
