import { beforeEach, describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'
import { entitledOptions, createFixtures, pathOf, routesOfEachSurface, type Fixtures } from './fixtures.ts'

const world = useWorld()
const surfaces = routesOfEachSurface(listMountedRoutes())
const timeoutMs = 90_000
const foreign = { origin: 'https://evil.test' }
let fixtures: Fixtures

beforeEach(async () => {
  fixtures = await createFixtures(world)
})

/** Reads with the entitled credential, and sends changes without any. */
async function answerOf(row: RouteRow) {
  const path = pathOf(row, fixtures)
  const options: RequestOptions =
    row.method === 'GET' ? await entitledOptions(world, row, fixtures, path) : {}
  return world.request(row.method, path, { ...options, headers: { ...options.headers, ...foreign } })
}

/** Checks that the response is data, a page, or bytes that no browser takes for a page. */
function isInert(headers: Headers): boolean {
  const policy = headers.get('content-security-policy') ?? ''
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/html')) return /^default-src '(self|none)'; /.test(policy)
  if (type === '' || /^application\/(manifest\+)?json/.test(type))
    return policy.startsWith("default-src 'none'")
  return /^(text\/plain|image\/)/.test(type) && policy === "default-src 'none'; sandbox"
}

describe.each(surfaces)('every answer of %s', (_surface, rows) => {
  it(
    'FE-3: is for no page of another origin, asked for beforehand or not',
    async () => {
      const sharing = (headers: Headers) =>
        [...headers.keys()].filter((name) => name.startsWith('access-control'))
      for (const row of rows) {
        const preflightHeaders = { ...foreign, 'access-control-request-method': row.method }
        const preflight = await world.request('OPTIONS', pathOf(row, fixtures), { headers: preflightHeaders })
        expect(preflight.status, row.path).toBeGreaterThanOrEqual(400)
        for (const { headers } of [preflight, await answerOf(row)]) {
          expect(sharing(headers), `${row.method} ${row.path}`).toEqual([])
        }
      }
    },
    timeoutMs,
  )

  it(
    'FE-4: is nothing that a browser would run',
    async () => {
      for (const row of rows) {
        const { status, headers } = await answerOf(row)
        const name = `${row.method} ${row.path} ${status} ${headers.get('content-type')}`
        expect(headers.get('x-content-type-options'), name).toBe('nosniff')
        expect(isInert(headers), name).toBe(true)
      }
    },
    timeoutMs,
  )

  it(
    'FE-5: is not cached when it needs a credential',
    async () => {
      for (const row of rows) {
        const isOpen = findMetadata(row, 'credential')?.name === 'none'
        const { status, headers } = await answerOf(row)
        if (isOpen && status < 400) continue
        const name = `${row.method} ${row.path} ${status}`
        expect(headers.get('cache-control'), name).toBe('no-store, private')
      }
    },
    timeoutMs,
  )
})
