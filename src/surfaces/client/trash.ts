import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { listTrash, requireTrash, TrashQuery } from '../../domain/trash/list.ts'
import { moveToTrash, TrashInput } from '../../domain/trash/move.ts'
import { purgeFromTrash } from '../../domain/trash/purge.ts'
import { restoreFromTrash } from '../../domain/trash/restore.ts'
import { exactBody } from '../../http/exact-body.ts'
import { stating } from '../../http/facts.ts'
import { params, query, returns, summary } from '../../http/route.ts'
import { available, permission, requirePermission, type ServerEnv } from './env.ts'
import { presentTrash, TrashPage } from './resources/trash-item.ts'

const ById = () => z.object({ item: z.uuid() })

/** The feature is on. Refuses with 403. */
const enabled = createMiddleware<ServerEnv>(async (c, next) => {
  await requireTrash(c.var.panel)
  await next()
})

/** What is restored leaves the trash and is made anew. */
const mayRestore = stating(
  { kind: 'permission', name: 'file.delete and file.create' },
  createMiddleware<ServerEnv>(async (c, next) => {
    requirePermission(c.var.permissions, 'file.delete')
    requirePermission(c.var.permissions, 'file.create')
    await next()
  }),
)

/** Spec: Client API, file trash. */
export const trash = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the trash'),
    available,
    permission('file.read'),
    query(TrashQuery),
    returns(200, TrashPage),
    async (c) => c.json(presentTrash(await listTrash(c.var.panel, c.var.server, c.req.valid('query').page))),
  )

  .post(
    '/',
    summary('Move files to the trash'),
    available,
    permission('file.delete'),
    enabled,
    exactBody(TrashInput),
    returns(204),
    async (c) => {
      await moveToTrash(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/:item/restore',
    summary('Restore from the trash'),
    available,
    mayRestore,
    enabled,
    params(ById),
    returns(204),
    async (c) => {
      await restoreFromTrash(c.var.panel, c.var.reached, c.req.valid('param').item)
      return c.body(null, 204)
    },
  )

  .delete(
    '/:item',
    summary('Delete from the trash for good'),
    available,
    permission('file.delete'),
    enabled,
    params(ById),
    returns(204),
    async (c) => {
      await purgeFromTrash(c.var.panel, c.var.reached, c.req.valid('param').item)
      return c.body(null, 204)
    },
  )
