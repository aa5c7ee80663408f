import { Hono } from 'hono'
import * as z from 'zod'
import { dismissAnnouncement, listShownAnnouncements } from '../../../domain/announcements/shown.ts'
import { pathId } from '../../../domain/fields.ts'
import type { HttpEnv } from '../../../http/http-env.ts'
import { params, returns, summary } from '../../../http/route.ts'
import { signedIn } from '../middleware.ts'
import { ShownAnnouncementResource } from '../resources/announcement.ts'

const AnnouncementParams = () => z.object({ announcement: pathId() })

/** Announcements for the caller: an extension of the ecosystem's API. Spec: docs/announcements.md#what-users-see. */
export const announcements = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List the announcements for you'),
    signedIn,
    returns(200, ShownAnnouncementResource.List),
    async (c) => c.json(ShownAnnouncementResource.list(await listShownAnnouncements(c.var.panel))),
  )

  .delete(
    '/:announcement',
    summary('Dismiss an announcement for good'),
    signedIn,
    params(AnnouncementParams),
    returns(204),
    async (c) => {
      await dismissAnnouncement(c.var.panel, c.req.valid('param').announcement)
      return c.body(null, 204)
    },
  )
