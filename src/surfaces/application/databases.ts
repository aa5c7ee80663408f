import { Hono } from 'hono'
import * as z from 'zod'
import { createDatabase, DatabaseInput } from '../../domain/databases/create.ts'
import { findDatabase, listDatabases, removeDatabase } from '../../domain/databases/databases.ts'
import { rotateDatabasePassword } from '../../domain/databases/passwords.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerList, answerOne } from './answers.ts'
import { createdAt } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { DatabaseResource } from './resources/database.ts'

const ServerParams = () => z.object({ server: pathId() })
const DatabaseParams = () => z.object({ server: pathId(), database: pathId() })

/** Spec: docs/databases.md#lifecycle. */
export const databases = new Hono<HttpEnv>()
  .get(
    '/:server/databases',
    summary('List the databases of a server'),
    acl('server_databases', 'read'),
    params(ServerParams),
    returns(200, DatabaseResource.List),
    async (c) => {
      const includes = await includesOf(c, 'database')
      const rows = await listDatabases(c.var.panel, c.req.valid('param').server, includes.allowed)
      return answerList(c, 'database', rows, includes)
    },
  )

  .get(
    '/:server/databases/:database',
    summary('Show a database'),
    acl('server_databases', 'read'),
    params(DatabaseParams),
    returns(200, DatabaseResource.One),
    async (c) => {
      const includes = await includesOf(c, 'database')
      const { server, database } = c.req.valid('param')
      const row = await findDatabase(c.var.panel, server, database, includes.allowed)
      return answerOne(c, 'database', row, includes)
    },
  )

  .post(
    '/:server/databases',
    summary('Create a database'),
    acl('server_databases', 'write'),
    params(ServerParams),
    body(DatabaseInput),
    returns(201, DatabaseResource.One),
    async (c) => {
      const includes = await includesOf(c, 'database')
      const { server } = c.req.valid('param')
      const { id } = await createDatabase(c.var.panel, server, c.req.valid('json'))
      const row = await findDatabase(c.var.panel, server, id, includes.allowed)
      const meta = createdAt(c, `servers/${server}/databases/${id}`)
      return answerOne(c, 'database', row, includes, { status: 201, meta })
    },
  )

  .post(
    '/:server/databases/:database/reset-password',
    summary('Rotate the password of a database'),
    acl('server_databases', 'write'),
    params(DatabaseParams),
    returns(204),
    async (c) => {
      const { server, database } = c.req.valid('param')
      await rotateDatabasePassword(c.var.panel, server, database)
      return c.body(null, 204)
    },
  )

  .delete(
    '/:server/databases/:database',
    summary('Delete a database'),
    acl('server_databases', 'write'),
    params(DatabaseParams),
    returns(204),
    async (c) => {
      const { server, database } = c.req.valid('param')
      await removeDatabase(c.var.panel, server, database)
      return c.body(null, 204)
    },
  )
