import { type Context, Hono } from 'hono'
import * as z from 'zod'
import {
  ClientDatabaseInput,
  createClientDatabase,
  listClientDatabases,
  rotateClientDatabasePassword,
} from '../../domain/databases/client-databases.ts'
import { findDatabaseId, removeDatabase } from '../../domain/databases/databases.ts'
import { isGranted } from '../../domain/permissions.ts'
import { readIncludes } from '../../http/listing.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perServer, type ServerEnv } from './middleware.ts'
import { DatabaseResource, type PasswordVisibility } from './resources/database.ts'

const DatabasesQuery = () =>
  z.object({ include: z.string().nullish().catch(null).describe('`password` shows the passwords') })
/** The id, or its spelling in the panel that the database moved in from. */
const DatabaseParams = () => z.object({ database: z.string().regex(/^\P{Cc}{1,255}$/u) })

/** Spec: docs/databases.md#lifecycle. */
export const databases = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the databases of a server'),
    available,
    permission('database.read'),
    query(DatabasesQuery),
    returns(200, DatabaseResource.List),
    async (c) => {
      const visibility = (await includesPassword(c)) ? passwordVisibility(c) : 'hidden'
      const options = { withPasswords: visibility === 'granted' }
      const rows = await listClientDatabases(c.var.panel, c.var.access, options)
      return c.json(DatabaseResource.list(rows.map((row) => ({ row, visibility }))))
    },
  )

  .post(
    '/',
    summary('Create a database'),
    available,
    permission('database.create'),
    throttle({ name: 'database-create', limit: 2, seconds: 60, key: perServer }),
    body(ClientDatabaseInput),
    returns(200, DatabaseResource.One),
    async (c) => {
      const row = await createClientDatabase(c.var.panel, c.var.access, c.req.valid('json'))
      return c.json(DatabaseResource.one({ row, visibility: passwordVisibility(c) }))
    },
  )

  .post(
    '/:database/rotate-password',
    summary('Rotate the password of a database'),
    available,
    permission('database.update'),
    params(DatabaseParams),
    returns(200, DatabaseResource.One),
    async (c) => {
      const id = await databaseIdOf(c, c.req.valid('param'))
      const row = await rotateClientDatabasePassword(c.var.panel, c.var.access, id)
      return c.json(DatabaseResource.one({ row, visibility: passwordVisibility(c) }))
    },
  )

  .delete(
    '/:database',
    summary('Delete a database'),
    available,
    permission('database.delete'),
    params(DatabaseParams),
    returns(204),
    async (c) => {
      const id = await databaseIdOf(c, c.req.valid('param'))
      await removeDatabase(c.var.panel, c.var.access.server.id, id)
      return c.body(null, 204)
    },
  )

const databaseIdOf = (c: Context<ServerEnv>, { database }: { database: string }) =>
  findDatabaseId(c.var.panel, c.var.access.server.id, database)

const includesPassword = async (c: Context<ServerEnv>) => (await readIncludes(c)).includes('password')

const passwordVisibility = (c: Context<ServerEnv>): PasswordVisibility =>
  isGranted(c.var.access.permissions, 'database.view_password') ? 'granted' : 'denied'
