import { beforeEach, describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { pathMatcher } from '../../src/http/metadata.ts'
import { openApiPath } from '../../src/http/openapi.ts'
import { useWorld } from '../support/world.ts'
import { createFixtures, entitledOptions, type Fixtures, pathOf } from './fixtures.ts'

const world = useWorld()
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
/** Routes by path; what a placeholder is called makes no other path. */
const byPath = Map.groupBy(listMountedRoutes(), ({ path }) => openApiPath(path).replace(/\{\w+\}/g, '{}'))
let fixtures: Fixtures

beforeEach(async () => {
  fixtures = await createFixtures(world)
})

/** The methods that the path has, as `Allow` writes them. */
const allowOf = (path: string) =>
  (byPath.get(path) ?? []).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).toSorted()

describe('Allow', () => {
  it('names what the path has, in every 405 and for OPTIONS, also where a placeholder matches it', async () => {
    const faults: unknown[] = []
    for (const [path, [row]] of byPath) {
      if (!row) continue
      const target = pathOf(row, fixtures)
      const options = await entitledOptions(world, row, fixtures, target)
      for (const method of methods.filter((each) => !allowOf(path).includes(each))) {
        const { status, headers } = await world.request(method, target, options)
        const allowed = (headers.get('allow') ?? '').split(', ').toSorted()
        if (status !== 405 || allowed.join() !== allowOf(path).join())
          faults.push([method, path, status, allowed])
      }
    }
    expect(faults).toEqual([])
  }, 90_000)

  it('has paths that a placeholder matches, too', () => {
    const literal = [...byPath.keys()].filter((path) =>
      [...byPath].some(
        ([other, [row]]) =>
          other !== path &&
          row &&
          pathMatcher(row.path).test(path) &&
          other.split('{').length > path.split('{').length,
      ),
    )
    expect(literal).toEqual(
      expect.arrayContaining([
        '/api/client/servers/resources',
        '/api/client/servers/{}/schedules/preview',
        '/api/application/nests/{}/eggs/import',
        '/api/application/nodes/deployable',
      ]),
    )
  })
})
