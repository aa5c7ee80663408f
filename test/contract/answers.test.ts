import { beforeEach, describe, expect, it } from 'vitest'
import { mountedRoutes } from '../../src/cli/api-info.ts'
import { factOfKind, type RouteRow } from '../../src/http/facts.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'
import { entitled, openScene, pathOf, routesOfEachSurface, type Scene } from './scene.ts'

const world = useWorld()
const surfaces = routesOfEachSurface(mountedRoutes())
const longest = 90_000
const foreign = { origin: 'https://evil.test' }
let scene: Scene

beforeEach(async () => {
  scene = await openScene(world)
})

/** What whoever may read it is told, and what strangers are who want to change something. */
async function answerOf(row: RouteRow) {
  const path = pathOf(row, scene)
  const options: RequestOptions = row.method === 'GET' ? await entitled(world, row, scene, path) : {}
  return world.request(row.method, path, { ...options, headers: { ...options.headers, ...foreign } })
}

/** Whether it is text for programs, a page, or bytes that nobody may take for one. */
function isInert(headers: Headers): boolean {
  const policy = headers.get('content-security-policy') ?? ''
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/html')) return /^default-src '(self|none)'; /.test(policy)
  if (type === '' || type.startsWith('application/json')) return policy.startsWith("default-src 'none'")
  return /^(text\/plain|image\/)/.test(type) && policy === "default-src 'none'; sandbox"
}

describe.each(surfaces)('every answer of %s', (_surface, rows) => {
  it(
    'FE-3: is for no page of another origin, asked for beforehand or not',
    async () => {
      const sharing = (headers: Headers) =>
        [...headers.keys()].filter((name) => name.startsWith('access-control'))
      for (const row of rows) {
        const asked = { ...foreign, 'access-control-request-method': row.method }
        const preflight = await world.request('OPTIONS', pathOf(row, scene), { headers: asked })
        expect(preflight.status, row.path).toBeGreaterThanOrEqual(400)
        for (const { headers } of [preflight, await answerOf(row)]) {
          expect(sharing(headers), `${row.method} ${row.path}`).toEqual([])
        }
      }
    },
    longest,
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
    longest,
  )

  it(
    'FE-5: is kept by nobody, when it is for whoever has a credential',
    async () => {
      for (const row of rows) {
        const isOpen = factOfKind(row, 'credential')?.name === 'none'
        const { status, headers } = await answerOf(row)
        if (isOpen && status < 400) continue
        const name = `${row.method} ${row.path} ${status}`
        expect(headers.get('cache-control'), name).toBe('no-store, private')
      }
    },
    longest,
  )
})
