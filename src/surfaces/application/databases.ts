import { Hono } from 'hono'
import * as z from 'zod'
import { rotateDatabasePassword } from '../../domain/database-passwords.ts'
import {
  createDatabase,
  DatabaseInput,
  findDatabase,
  listDatabases,
  removeDatabase,
} from '../../domain/databases.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { created } from './created.ts'
import { acl } from './env.ts'
import { includesOf, presentList, presentOne } from './relations.ts'
import { DatabaseResource } from './resources/database.ts'

const OfServer = () => z.object({ server: pathId() })
const ById = () => z.object({ server: pathId(), database: pathId() })

/** Spec: Application API, servers/{server}/databases. */
export const databases = new Hono<HttpEnv>()
  .get(
    '/:server/databases',
    summary('List the databases of a server'),
    acl('server_databases', 'read'),
    params(OfServer),
    returns(200, DatabaseResource.List),
    async (c) => {
      const includes = includesOf(c, 'database')
      const rows = await listDatabases(c.var.panel, c.req.valid('param').server, includes.allowed)
      return c.json(presentList('database', rows, includes))
    },
  )

  .get(
    '/:server/databases/:database',
    summary('Show a database of a server'),
    acl('server_databases', 'read'),
    params(ById),
    returns(200, DatabaseResource.One),
    async (c) => {
      const includes = includesOf(c, 'database')
      const { server, database } = c.req.valid('param')
      const row = await findDatabase(c.var.panel, server, database, includes.allowed)
      return c.json(presentOne('database', row, includes))
    },
  )

  .post(
    '/:server/databases',
    summary('Create a database for a server'),
    acl('server_databases', 'write'),
    params(OfServer),
    body(DatabaseInput),
    returns(201, DatabaseResource.One),
    async (c) => {
      const includes = includesOf(c, 'database')
      const { server } = c.req.valid('param')
      const { id } = await createDatabase(c.var.panel, server, c.req.valid('json'))
      const row = await findDatabase(c.var.panel, server, id, includes.allowed)
      return created(c, `servers/${server}/databases/${id}`, presentOne('database', row, includes))
    },
  )

  .post(
    '/:server/databases/:database/reset-password',
    summary("Give a database's user a new password"),
    acl('server_databases', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      const { server, database } = c.req.valid('param')
      await rotateDatabasePassword(c.var.panel, server, database)
      return c.body(null, 204)
    },
  )

  .delete(
    '/:server/databases/:database',
    summary('Drop a database of a server'),
    acl('server_databases', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      const { server, database } = c.req.valid('param')
      await removeDatabase(c.var.panel, server, database)
      return c.body(null, 204)
    },
  )
