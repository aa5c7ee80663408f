import { type Context, Hono } from 'hono'
import * as z from 'zod'
import {
  ClientDatabaseInput,
  createClientDatabase,
  listClientDatabases,
  rotateClientDatabasePassword,
} from '../../domain/client-databases.ts'
import { removeDatabase } from '../../domain/databases.ts'
import { pathId } from '../../domain/fields.ts'
import { isGranted } from '../../domain/permissions.ts'
import { readIncludes } from '../../http/listing.ts'
import { parseQuery } from '../../http/query-string.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perServer, type ServerEnv } from './env.ts'
import { DatabaseResource, type PasswordShown } from './resources/database.ts'

const ById = () => z.object({ database: pathId() })

/** Spec: Client API, databases. */
export const databases = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the databases of a server'),
    available,
    permission('database.read'),
    returns(200, DatabaseResource.List),
    async (c) => {
      const shown = isPasswordAsked(c) ? passwordFor(c) : 'unasked'
      const options = { withPasswords: shown === 'granted' }
      const rows = await listClientDatabases(c.var.panel, c.var.reached, options)
      return c.json(DatabaseResource.list(rows.map((row) => ({ row, shown }))))
    },
  )

  .post(
    '/',
    summary('Create a database for a server'),
    available,
    permission('database.create'),
    throttle({ name: 'database-create', limit: 2, seconds: 60, key: perServer }),
    body(ClientDatabaseInput),
    returns(200, DatabaseResource.One),
    async (c) => {
      const row = await createClientDatabase(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.json(DatabaseResource.one({ row, shown: passwordFor(c) }))
    },
  )

  .post(
    '/:database/rotate-password',
    summary("Give a database's user a new password"),
    available,
    permission('database.update'),
    params(ById),
    returns(200, DatabaseResource.One),
    async (c) => {
      const { database } = c.req.valid('param')
      const row = await rotateClientDatabasePassword(c.var.panel, c.var.reached, database)
      return c.json(DatabaseResource.one({ row, shown: passwordFor(c) }))
    },
  )

  .delete(
    '/:database',
    summary('Drop a database of a server'),
    available,
    permission('database.delete'),
    params(ById),
    returns(204),
    async (c) => {
      await removeDatabase(c.var.panel, c.var.server.id, c.req.valid('param').database)
      return c.body(null, 204)
    },
  )

const isPasswordAsked = (c: Context<ServerEnv>) =>
  readIncludes(parseQuery(c.req.queries()).include).includes('password')

const passwordFor = (c: Context<ServerEnv>): PasswordShown =>
  isGranted(c.var.permissions, 'database.view_password') ? 'granted' : 'denied'
