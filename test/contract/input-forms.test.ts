import { beforeEach, describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { typesOf } from '../../src/http/json-schema.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import type { Answer } from '../support/answers.ts'
import { pageHeaders } from '../support/browser.ts'
import { useWorld } from '../support/world.ts'
import { changesSince, fingerprintOf } from './fingerprint.ts'
import { createFixtures, entitledOptions, type Fixtures, pathOf, routesOfEachSurface } from './fixtures.ts'
import { bodySchemaOf, fieldsOf, sampleText } from './garbage.ts'

const world = useWorld()
const timeoutMs = 90_000
let fixtures: Fixtures

beforeEach(async () => {
  fixtures = await createFixtures(world)
})

/** Their body is a document or a signed message, which the query is no part of. */
const bodyAlone = ['POST /api/application/nests/:nest/eggs/import', 'POST /jobs/run']
const nameOf = (row: RouteRow) => `${row.method} ${row.path}`
const routes = listMountedRoutes().filter((row) => bodySchemaOf(row) && !bodyAlone.includes(nameOf(row)))

/** Writes an input as the fields of a form, with names in brackets. */
function fieldsFor(value: unknown, name = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[name, String(value)]]
  return Object.entries(value).flatMap(([member, each]) =>
    fieldsFor(each, name === '' ? member : `${name}[${member}]`),
  )
}

type Sent = { query?: string; raw?: string; type: string }

/** The places of an input, each as a request that says the same. */
const places: Record<string, (input: unknown) => Sent> = {
  query: (input) => ({ query: String(new URLSearchParams(fieldsFor(input))), type: 'application/json' }),
  'urlencoded form': (input) => ({
    raw: String(new URLSearchParams(fieldsFor(input))),
    type: 'application/x-www-form-urlencoded; charset=UTF-8',
  }),
  'multipart form': (input) => ({
    raw: fieldsFor(input)
      .map(
        ([name, value]) =>
          `--form-boundary-4711\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      )
      .join('')
      .concat('--form-boundary-4711--\r\n'),
    type: 'multipart/form-data; boundary=form-boundary-4711',
  }),
}

async function send(row: RouteRow, { query, raw, type }: Sent): Promise<Answer> {
  const path = pathOf(row, fixtures)
  const options = await entitledOptions(world, row, fixtures, path, raw)
  const headers = { ...options.headers, 'content-type': type }
  return world.request(row.method, query ? `${path}?${query}` : path, { ...options, headers })
}

const json = (input: unknown): Sent => ({ raw: JSON.stringify(input), type: 'application/json' })

/** Leaves out objects and lists without members, which a form cannot say. */
const withoutEmpty = (input: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(input).filter(([, value]) => typeof value !== 'object' || fieldsFor(value).length > 0),
  )

/** Returns a valid input, but for an object or a text in place of its first member. */
function brokenInputOf(row: RouteRow): Record<string, unknown> | null {
  const schema = bodySchemaOf(row) ?? {}
  const [first] = fieldsOf(schema)
  if (!first) return null
  const broken = typesOf(first.schema).includes('object') ? '"x"' : '{"x":"y"}'
  return withoutEmpty(JSON.parse(sampleText(schema, first.path, broken)) as Record<string, unknown>)
}

/** What an answer says about the input. */
const verdictOf = ({ status, body }: Answer) => ({
  status,
  refused: body?.errors?.map((entry: { meta?: unknown; code: string }) => entry.meta ?? entry.code) ?? [],
})

/** Sends as if it were the first request. */
async function judge(row: RouteRow, sent: Sent) {
  Object.assign(world.services, { cache: localCache(() => world.clock.now.getTime()) })
  return verdictOf(await send(row, sent))
}

describe('an input in a query, an urlencoded form and a multipart form', () => {
  it.each(routesOfEachSurface(routes))(
    'is judged as the same JSON, by every method and route of the %s surface',
    async (_surface, rows) => {
      const faults: unknown[] = []
      let compared = 0
      for (const row of rows) {
        const input = brokenInputOf(row)
        if (!input) continue
        const expected = await judge(row, json(input))
        for (const [place, spell] of Object.entries(places)) {
          if (place === 'query' && needsBody(row)) continue
          const judged = await judge(row, spell(input))
          compared += judged.status === 422 ? 1 : 0
          if (JSON.stringify(judged) !== JSON.stringify(expected))
            faults.push([nameOf(row), place, input, expected, judged])
        }
      }
      expect(faults).toEqual([])
      expect(compared).toBeGreaterThan(rows.length)
    },
    timeoutMs,
  )
})

const needsBody = (row: RouteRow) =>
  row.metadata.some((metadata) => metadata.kind === 'input' && metadata.requiresBody === true)

describe('an input in any form', () => {
  const withSession = () =>
    listMountedRoutes().filter((row) =>
      ['browser session', 'client key or session'].includes(findMetadata(row, 'credential')?.name ?? ''),
    )

  it.each([
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=form-boundary-4711',
    'text/plain',
  ])(
    'needs the CSRF token of the session as %s',
    async (type) => {
      const before = await fingerprintOf(world)
      const { 'x-xsrf-token': token, ...headers } = pageHeaders(world, fixtures.sessionToken)
      expect(token).toBeDefined()
      for (const row of withSession().filter(({ method }) => method !== 'GET')) {
        const path = `${pathOf(row, fixtures)}?_token=${token}&signal=kill&command=stop`
        const raw = type.includes('json') ? '{}' : 'signal=kill&command=stop'
        const answer = await world.request(row.method, path, {
          raw,
          headers: { ...headers, 'content-type': type },
        })
        expect(answer.status, nameOf(row)).toBe(419)
      }
      expect(await changesSince(world, before)).toEqual([])
    },
    timeoutMs,
  )

  it('is nothing that was not signed, where the queue signs the body', async () => {
    const row = listMountedRoutes().find((each) => nameOf(each) === 'POST /jobs/run')
    if (!row) throw new Error('The route is gone.')
    const query = `job=${fixtures.job.id}`
    const answer = await send(row, { raw: '{}', query, type: 'application/json' })
    expect(verdictOf(answer)).toMatchObject({
      status: 422,
      refused: [{ source_field: 'job', rule: 'uuid' }],
    })
  })
})
