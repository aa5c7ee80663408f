import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { listTrash, requireTrashEnabled, TrashQuery } from '../../domain/trash/list.ts'
import { moveToTrash, TrashInput } from '../../domain/trash/move.ts'
import { purgeFromTrash } from '../../domain/trash/purge.ts'
import { restoreFromTrash } from '../../domain/trash/restore.ts'
import { withMetadata } from '../../http/metadata.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { available, permission, requirePermission, type ServerEnv } from './middleware.ts'
import { presentTrash, TrashPage } from './resources/trash-item.ts'

const TrashItemParams = () => z.object({ item: z.uuid() })

/** Requires that the trash is enabled. Refuses with 403. */
const trashEnabled = createMiddleware<ServerEnv>(async (c, next) => {
  await requireTrashEnabled(c.var.panel)
  await next()
})

/** Restoring removes files from the trash and creates them again. */
const restorePermission = withMetadata(
  { kind: 'permission', name: 'file.delete and file.create' },
  createMiddleware<ServerEnv>(async (c, next) => {
    requirePermission(c.var.access, 'file.delete')
    requirePermission(c.var.access, 'file.create')
    await next()
  }),
)

/** Spec: docs/files.md#trash. */
export const trash = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the trash of a server'),
    available,
    permission('file.read'),
    query(TrashQuery),
    returns(200, TrashPage),
    async (c) =>
      c.json(presentTrash(await listTrash(c.var.panel, c.var.access.server, c.req.valid('query').page))),
  )

  .post(
    '/',
    summary('Move files to the trash'),
    available,
    permission('file.delete'),
    trashEnabled,
    body(TrashInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      await moveToTrash(c.var.panel, c.var.access, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/:item/restore',
    summary('Restore an item from the trash'),
    available,
    restorePermission,
    trashEnabled,
    params(TrashItemParams),
    returns(204),
    async (c) => {
      await restoreFromTrash(c.var.panel, c.var.access, c.req.valid('param').item)
      return c.body(null, 204)
    },
  )

  .delete(
    '/:item',
    summary('Delete an item from the trash permanently'),
    available,
    permission('file.delete'),
    trashEnabled,
    params(TrashItemParams),
    returns(204),
    async (c) => {
      await purgeFromTrash(c.var.panel, c.var.access, c.req.valid('param').item)
      return c.body(null, 204)
    },
  )
