import { Hono } from 'hono'
import * as z from 'zod'
import {
  addDatabaseHost,
  changeDatabaseHost,
  DatabaseHostChanges,
  databaseHostFilters,
  DatabaseHostInput,
  findDatabaseHost,
  listDatabaseHosts,
  removeDatabaseHost,
  testDatabaseHost,
} from '../../domain/databases/hosts.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerOne, answerPage } from './answers.ts'
import { created } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { DatabaseHostReport, DatabaseHostResource } from './resources/database-host.ts'

const DatabaseHostParams = () => z.object({ database_host: pathId() })
const listOptions = { filters: databaseHostFilters, sorts: ['id'], perPage: 50, maxPerPage: 500 }

/** The MariaDB and MySQL hosts of databases: an extension of the ecosystem's API. */
export const databaseHosts = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List database hosts'),
    acl('database_hosts', 'read'),
    listing(listOptions),
    returns(200, DatabaseHostResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'databaseHost')
      const page = await listDatabaseHosts(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'databaseHost', page, includes)
    },
  )

  .get(
    '/:database_host',
    summary('Show a database host'),
    acl('database_hosts', 'read'),
    params(DatabaseHostParams),
    returns(200, DatabaseHostResource.One),
    async (c) => {
      const includes = await includesOf(c, 'databaseHost')
      const host = await findDatabaseHost(c.var.panel, c.req.valid('param').database_host, includes.allowed)
      return answerOne(c, 'databaseHost', host, includes)
    },
  )

  .post(
    '/',
    summary('Create a database host'),
    acl('database_hosts', 'write'),
    body(DatabaseHostInput),
    returns(201, DatabaseHostResource.One),
    async (c) => {
      const host = await addDatabaseHost(c.var.panel, c.req.valid('json'))
      return created(c, `database-hosts/${host.id}`, DatabaseHostResource.one(host))
    },
  )

  .post(
    '/:database_host/test',
    summary('Test the connection to a database host'),
    acl('database_hosts', 'write'),
    params(DatabaseHostParams),
    returns(200, DatabaseHostReport),
    async (c) => {
      const { version, tls } = await testDatabaseHost(c.var.panel, c.req.valid('param').database_host)
      return c.json({ reachable: true, version, tls })
    },
  )

  .patch(
    '/:database_host',
    summary('Update a database host'),
    acl('database_hosts', 'write'),
    params(DatabaseHostParams),
    body(DatabaseHostChanges),
    returns(200, DatabaseHostResource.One),
    async (c) => {
      const { database_host: id } = c.req.valid('param')
      const host = await changeDatabaseHost(c.var.panel, id, c.req.valid('json'))
      return c.json(DatabaseHostResource.one(host))
    },
  )

  .delete(
    '/:database_host',
    summary('Delete a database host'),
    acl('database_hosts', 'write'),
    params(DatabaseHostParams),
    returns(204),
    async (c) => {
      await removeDatabaseHost(c.var.panel, c.req.valid('param').database_host)
      return c.body(null, 204)
    },
  )
