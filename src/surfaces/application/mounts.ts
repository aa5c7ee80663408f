import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  addMount,
  changeMount,
  findMount,
  listMounts,
  MountChanges,
  mountFilters,
  MountInput,
  removeMount,
} from '../../domain/mounts/mounts.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerOne, answerPage } from './answers.ts'
import { createdAt } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { MountResource } from './resources/mount.ts'

const MountParams = () => z.object({ mount: pathId() })
const listOptions = { filters: mountFilters, sorts: ['id', 'name'], perPage: 50, maxPerPage: 500 }

type MountParam = { in: { param: { mount: number } }; out: { param: { mount: number } } }

/** Refuses with 404 an unknown mount, before the body is judged. */
const existingMount = createMiddleware<HttpEnv, string, MountParam>(async (c, next) => {
  await findMount(c.var.panel, c.req.valid('param').mount)
  await next()
})

/** Answers with the mount as it is now and its included relations. */
async function answerMount(c: Context<HttpEnv>, id: number, isNew = false) {
  const includes = await includesOf(c, 'mount')
  const mount = await findMount(c.var.panel, id, includes.allowed)
  return answerOne(
    c,
    'mount',
    mount,
    includes,
    isNew ? { status: 201, meta: createdAt(c, `mounts/${id}`) } : {},
  )
}

/** Folders of nodes for the containers of servers: an extension of the ecosystem's API. Spec: docs/servers.md#mounts. */
export const mounts = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List mounts'),
    acl('mounts', 'read'),
    listing(listOptions),
    returns(200, MountResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'mount')
      const page = await listMounts(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'mount', page, includes)
    },
  )

  .get(
    '/:mount',
    summary('Show a mount'),
    acl('mounts', 'read'),
    params(MountParams),
    returns(200, MountResource.One),
    async (c) => answerMount(c, c.req.valid('param').mount),
  )

  .post(
    '/',
    summary('Create a mount'),
    acl('mounts', 'write'),
    body(MountInput),
    returns(201, MountResource.One),
    async (c) => {
      const { id } = await addMount(c.var.panel, c.req.valid('json'))
      return answerMount(c, id, true)
    },
  )

  .patch(
    '/:mount',
    summary('Update a mount, its eggs and nodes'),
    acl('mounts', 'write'),
    params(MountParams),
    existingMount,
    body(MountChanges),
    returns(200, MountResource.One),
    async (c) => {
      const { id } = await changeMount(c.var.panel, c.req.valid('param').mount, c.req.valid('json'))
      return answerMount(c, id)
    },
  )

  .delete(
    '/:mount',
    summary('Delete a mount'),
    acl('mounts', 'write'),
    params(MountParams),
    returns(204),
    async (c) => {
      await removeMount(c.var.panel, c.req.valid('param').mount)
      return c.body(null, 204)
    },
  )
