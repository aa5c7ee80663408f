import { beforeEach, describe, expect, it } from 'vitest'
import { mountedRoutes } from '../../src/cli/api-info.ts'
import { useWorld } from '../support/world.ts'
import { entitled, openScene, pathOf, type Scene } from './scene.ts'

const world = useWorld()
let scene: Scene

beforeEach(async () => {
  scene = await openScene(world)
})

/** GETs that do more than read: this one opens an upload and writes it down; its own suite counts. */
const writing = ['/api/remote/backups/:backup']
const gets = mountedRoutes().filter(
  ({ method, path }) => method === 'GET' && path.startsWith('/api/') && !writing.includes(path),
)

/** Every relation of every resource: unknown ones are ignored where they do not exist. */
const everything =
  'include=allocations,databases,databases.host,egg,eggs.variables,egg.nest,location,location.nodes,nest,node,node.location,nodes,server,servers,servers.user,subusers,subusers.user,user,users,variables,config,script'

/** What some of them must be told; the others pass over it. */
const needed = 'memory=1&disk=1'

/** The scene names its server and its user differently. */
const externalId = (path: string): Record<string, string> =>
  path.includes('/users/') ? { external_id: 'external-user' } : {}

describe('every GET', () => {
  it.each(gets.map((row) => [row.path, row] as const))(
    '%s costs at most two statements',
    async (_path, row) => {
      const path = `${pathOf(row, scene, externalId(row.path))}?${needed}&${everything}`
      const options = await entitled(world, row, scene, path)
      let status = 0
      const statements = await world.countStatements(async () => {
        status = (await world.request('GET', path, options)).status
      })
      // The daemon of the scene does not answer, which one route says with 504.
      expect([200, 504]).toContain(status)
      expect(statements).toBeLessThanOrEqual(2)
    },
  )
})
