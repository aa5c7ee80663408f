import { Hono } from 'hono'
import {
  changeMailChoices,
  mailChoicesColumn,
  MailChoicesInput,
  toMailChoices,
} from '../../../domain/notifications/mail-choices.ts'
import {
  markAsRead,
  notificationsColumn,
  ReadInput,
  toNotificationPage,
} from '../../../domain/notifications/notifications.ts'
import type { HttpEnv } from '../../../http/http-env.ts'
import { readQuery } from '../../../http/input.ts'
import { listing, listingReader } from '../../../http/listing.ts'
import { publicUrl } from '../../../http/public-url.ts'
import { body, returns, summary } from '../../../http/route.ts'
import { reads, signedIn } from '../middleware.ts'
import {
  NotificationList,
  NotificationMailResource,
  presentNotifications,
} from '../resources/notification.ts'

const listOptions = { perPage: 20, maxPerPage: 100 }
const readRequest = listingReader(listOptions)

/** Notifications of the caller: an extension of the ecosystem's API. Spec: docs/notifications.md#reading-them. */
export const notifications = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List your notifications'),
    signedIn,
    listing(listOptions),
    reads(async (c) => notificationsColumn(readRequest(await readQuery(c)))),
    returns(200, NotificationList),
    (c) =>
      c.json(presentNotifications(toNotificationPage(c.get('data'), c.req.valid('query')), publicUrl(c))),
  )

  .post(
    '/read',
    summary('Mark your notifications as read'),
    signedIn,
    body(ReadInput),
    returns(204),
    async (c) => {
      await markAsRead(c.var.panel, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .get(
    '/mail',
    summary('List about which notifications you get mails'),
    signedIn,
    reads(mailChoicesColumn),
    returns(200, NotificationMailResource.List),
    (c) => c.json(NotificationMailResource.list(toMailChoices(c.get('panel'), c.get('data')))),
  )

  .put(
    '/mail',
    summary('Choose about which notifications you get mails'),
    signedIn,
    body(MailChoicesInput),
    returns(204),
    async (c) => {
      await changeMailChoices(c.var.panel, c.req.valid('json'))
      return c.body(null, 204)
    },
  )
