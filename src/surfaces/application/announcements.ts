import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  addAnnouncement,
  changeAnnouncement,
  findAnnouncement,
  listAnnouncements,
  AnnouncementChanges,
  announcementFilters,
  announcementSorts,
  AnnouncementInput,
  removeAnnouncement,
} from '../../domain/announcements/announcements.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerOne, answerPage } from './answers.ts'
import { createdAt } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { AnnouncementResource } from './resources/announcement.ts'

const AnnouncementParams = () => z.object({ announcement: pathId() })
const listOptions = {
  filters: announcementFilters,
  sorts: announcementSorts,
  perPage: 50,
  maxPerPage: 500,
}

type AnnouncementParam = { in: { param: { announcement: number } }; out: { param: { announcement: number } } }

/** Refuses with 404 an unknown announcement, before the body is judged. */
const existingAnnouncement = createMiddleware<HttpEnv, string, AnnouncementParam>(async (c, next) => {
  await findAnnouncement(c.var.panel, c.req.valid('param').announcement)
  await next()
})

/** Answers with the announcement as it is now and its included relations. */
async function answerAnnouncement(c: Context<HttpEnv>, id: number, isNew = false) {
  const includes = await includesOf(c, 'announcement')
  const announcement = await findAnnouncement(c.var.panel, id, includes.allowed)
  return answerOne(
    c,
    'announcement',
    announcement,
    includes,
    isNew ? { status: 201, meta: createdAt(c, `announcements/${id}`) } : {},
  )
}

/** Messages for users: an extension of the ecosystem's API. Spec: docs/announcements.md#announcements. */
export const announcements = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List announcements'),
    acl('announcements', 'read'),
    listing(listOptions),
    returns(200, AnnouncementResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'announcement')
      const page = await listAnnouncements(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'announcement', page, includes)
    },
  )

  .get(
    '/:announcement',
    summary('Show an announcement'),
    acl('announcements', 'read'),
    params(AnnouncementParams),
    returns(200, AnnouncementResource.One),
    async (c) => answerAnnouncement(c, c.req.valid('param').announcement),
  )

  .post(
    '/',
    summary('Create an announcement'),
    acl('announcements', 'write'),
    body(AnnouncementInput),
    returns(201, AnnouncementResource.One),
    async (c) => {
      const { id } = await addAnnouncement(c.var.panel, c.req.valid('json'))
      return answerAnnouncement(c, id, true)
    },
  )

  .patch(
    '/:announcement',
    summary('Update an announcement, its locations and nodes'),
    acl('announcements', 'write'),
    params(AnnouncementParams),
    existingAnnouncement,
    body(AnnouncementChanges),
    returns(200, AnnouncementResource.One),
    async (c) => {
      const { id } = await changeAnnouncement(
        c.var.panel,
        c.req.valid('param').announcement,
        c.req.valid('json'),
      )
      return answerAnnouncement(c, id)
    },
  )

  .delete(
    '/:announcement',
    summary('Delete an announcement'),
    acl('announcements', 'write'),
    params(AnnouncementParams),
    returns(204),
    async (c) => {
      await removeAnnouncement(c.var.panel, c.req.valid('param').announcement)
      return c.body(null, 204)
    },
  )
