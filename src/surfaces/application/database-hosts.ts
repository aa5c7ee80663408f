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
} from '../../domain/database-hosts.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { created } from './created.ts'
import { acl } from './env.ts'
import { includesOf, presentOne, presentPage } from './relations.ts'
import { DatabaseHostReport, DatabaseHostResource } from './resources/database-host.ts'

const ById = () => z.object({ database_host: pathId() })
const List = { filters: databaseHostFilters, sorts: ['id'], perPage: 50, mostPerPage: 500 }

/** MariaDB and MySQL servers for databases of game servers; an extension of the specification. */
export const databaseHosts = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List database hosts'),
    acl('database_hosts', 'read'),
    listing(List),
    returns(200, DatabaseHostResource.Page),
    async (c) => {
      const includes = includesOf(c, 'databaseHost')
      const page = await listDatabaseHosts(c.var.panel, c.req.valid('query'), includes.allowed)
      return c.json(presentPage('databaseHost', page, includes, publicUrl(c)))
    },
  )

  .get(
    '/:database_host',
    summary('Show a database host'),
    acl('database_hosts', 'read'),
    params(ById),
    returns(200, DatabaseHostResource.One),
    async (c) => {
      const includes = includesOf(c, 'databaseHost')
      const host = await findDatabaseHost(c.var.panel, c.req.valid('param').database_host, includes.allowed)
      return c.json(presentOne('databaseHost', host, includes))
    },
  )

  .post(
    '/',
    summary('Add a database host that lets the panel in'),
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
    summary('Log in to a database host and say what it is'),
    acl('database_hosts', 'write'),
    params(ById),
    returns(200, DatabaseHostReport),
    async (c) => {
      const { version, tls } = await testDatabaseHost(c.var.panel, c.req.valid('param').database_host)
      return c.json({ reachable: true, version, tls })
    },
  )

  .patch(
    '/:database_host',
    summary('Change a database host'),
    acl('database_hosts', 'write'),
    params(ById),
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
    summary('Remove a database host without databases'),
    acl('database_hosts', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await removeDatabaseHost(c.var.panel, c.req.valid('param').database_host)
      return c.body(null, 204)
    },
  )
