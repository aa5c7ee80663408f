import { beforeEach, describe, expect, it } from 'vitest'
import type { Cache } from '../../src/adapters/cache.ts'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import { pageHeaders } from '../support/browser.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'
import { entitledOptions, createFixtures, pathOf, type Fixtures } from './fixtures.ts'

const world = useWorld()
let fixtures: Fixtures
let cacheCalls: (keyof Cache)[] = []

beforeEach(async () => {
  fixtures = await createFixtures(world)
  Object.assign(world.services, { cache: counting(world.services.cache) })
})

const counting = (cache: Cache): Cache =>
  new Proxy(cache, {
    get: (target, name: keyof Cache) => {
      // A lock is given back beside the answer.
      if (name !== 'remove') cacheCalls.push(name)
      return target[name]
    },
  })

/** The first two are counted by their own suites: one opens an upload and writes it down, one needs a disk; the last reads no table. */
const leftOut = ['/api/remote/backups/:backup', '/api/application/move-in', '/outbox']
const gets = listMountedRoutes().filter(
  (row) =>
    row.method === 'GET' &&
    !leftOut.includes(row.path) &&
    findMetadata(row, 'credential')?.name !== 'none' &&
    findMetadata(row, 'returns')?.status !== 302,
)
const ofClients = gets.filter((row) => findMetadata(row, 'credential')?.name === 'client key or session')

/** Every relation of every resource: unknown ones are ignored where they do not exist. */
const everything =
  'include=allocations,databases,databases.host,egg,eggs.variables,egg.nest,location,location.nodes,nest,node,node.location,nodes,server,servers,servers.user,subusers,subusers.user,user,users,variables,config,script'

/** Query parameters that some of them require; the others ignore them. */
const needed = () =>
  `memory=1&disk=1&file=a&servers=${fixtures.server.uuid}&minute=0&hour=4&day_of_month=*&month=*&day_of_week=*`

/** The fixtures have other keys for the server and the user. */
const externalId = (path: string): Record<string, string> =>
  path.includes('/users/') ? { external_id: 'external-user' } : {}

const addressOf = (row: RouteRow) =>
  `${pathOf(row, fixtures, externalId(row.path))}?${needed()}&${everything}`

/** Routes that read what they show in the statement of their credential. */
const hotRoutes = new Set([
  '/api/application/activity',
  '/api/client',
  '/api/client/account',
  '/api/client/account/activity',
  '/api/client/servers',
  '/api/client/servers/:server',
  '/api/client/servers/:server/activity',
  '/api/client/servers/:server/resources',
  '/api/client/servers/:server/websocket',
  '/api/remote/servers',
  '/api/remote/servers/:uuid',
  '/api/remote/servers/:uuid/install',
])

it('names hot routes that exist', () => {
  const paths = new Set(gets.map(({ path }) => path))
  for (const path of hotRoutes) expect(paths, path).toContain(path)
})

/** Expects at most two statements of a route, one of a hot one, and two calls to the cache. */
async function expectFew(row: RouteRow, path: string, options: RequestOptions): Promise<void> {
  let status = 0
  cacheCalls = []
  const statements = await world.countStatements(async () => {
    status = (await world.request('GET', path, options)).status
  })
  // The daemon of the fixtures does not respond, which one route reports with 504.
  expect([200, 204, 504]).toContain(status)
  expect(statements).toBeLessThanOrEqual(hotRoutes.has(row.path) ? 1 : 2)
  expect(cacheCalls.length, cacheCalls.join()).toBeLessThanOrEqual(path.startsWith('/api/remote') ? 0 : 2)
}

describe('every GET', () => {
  it.each(gets.map((row) => [row.path, row] as const))(
    '%s costs at most two statements and two calls to the cache',
    async (_path, row) => {
      const path = addressOf(row)
      await expectFew(row, path, await entitledOptions(world, row, fixtures, path))
    },
  )
})

describe('every GET under a session', () => {
  it.each(ofClients.map((row) => [row.path, row] as const))(
    '%s costs at most two statements and two calls to the cache',
    async (_path, row) =>
      expectFew(row, addressOf(row), { headers: pageHeaders(world, fixtures.sessionToken) }),
  )
})
