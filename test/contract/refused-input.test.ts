import { describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { propertiesOf } from '../../src/http/json-schema.ts'
import type { RouteRow } from '../../src/http/metadata.ts'
import type { Answer } from '../support/answers.ts'
import { useWorld } from '../support/world.ts'
import { changesSince, fingerprintOf } from './fingerprint.ts'
import {
  bodySchemaOf,
  emptyBodies,
  fieldsOf,
  hostile,
  hostileBodies,
  odd,
  querySchemaOf,
  sampleText,
  successOf,
  unfitFor,
} from './garbage.ts'
import {
  entitledOptions,
  createFixtures,
  parameterNames,
  pathOf,
  routesOfEachSurface,
  type Fixtures,
} from './fixtures.ts'

const world = useWorld()
const routes = listMountedRoutes()
const nameOf = (row: RouteRow) => `${row.method} ${row.path}`
const timeoutMs = 90_000

const isRefusal = ({ status }: Answer) => status >= 400 && status < 500

/** Checks that only the daemon and the database host, which are unreachable, fail. */
const isAway = ({ status, body }: Answer) =>
  status >= 500 &&
  /^(DaemonConnectionException|DatabaseHostException|HttpException)$/.test(String(body?.errors?.[0]?.code))
const isFault = (answer: Answer) => answer.status >= 500 && !isAway(answer)

/** Tables that a route writes to when it refuses: a failed sign-in is recorded, and many of them are mailed to the owner. */
const witnessed = new Map([['POST /auth/login', ['activity', 'jobs']]])

/** Lists whose bad members are dropped, since a daemon sends a refused batch again for ever. */
const tolerant = new Map([['POST /api/remote/activity', /^data(\.0|$)/]])

async function ask(fixtures: Fixtures, row: RouteRow, path: string, raw?: string): Promise<Answer> {
  return world.request(row.method, path, await entitledOptions(world, row, fixtures, path, raw))
}

describe('ids that cannot exist', () => {
  const ids = [
    '0',
    '-1',
    '2147483648',
    '99999999999999999999',
    '1e3',
    '1.5',
    'abc',
    '%00',
    '%ff',
    '..;',
    "1'--",
    '%20',
  ]
  /** Where a parameter names what is looked up nowhere: the application starts, and asks for it. */
  const anythingGoes = [
    '/auth/password/reset/:token',
    '/account/verify-email/:token',
    '/server/:server',
    '/server/:server/:page',
    '/server/:server/:page/:item',
    '/admin/:section',
    '/admin/:section/:item',
    '/admin/:section/:item/:page',
  ]
  const withIds = routes.filter((row) => row.path.includes(':') && !anythingGoes.includes(row.path))

  it.each(routesOfEachSurface(withIds))(
    'are not found on the %s surface',
    async (_surface, rows) => {
      const fixtures = await createFixtures(world)
      const before = await fingerprintOf(world)
      const faults: string[] = []
      for (const row of rows) {
        const schema = bodySchemaOf(row)
        for (const name of parameterNames(row)) {
          for (const id of ids) {
            const path = pathOf(row, fixtures, { [name]: id })
            const { status } = await ask(fixtures, row, path, schema ? sampleText(schema) : undefined)
            if (![400, 404].includes(status)) faults.push(`${row.method} ${path}: ${status}`)
          }
        }
      }
      expect(faults).toEqual([])
      expect(await changesSince(world, before)).toEqual([])
    },
    timeoutMs,
  )
})

describe('bodies that do not fit', () => {
  const withBody = routes.filter((row) => bodySchemaOf(row) !== null)
  const tooLong = JSON.stringify({ a: 'x'.repeat(6 * 1024 * 1024) })

  it.each(withBody.map((row) => [nameOf(row), row] as const))(
    'change nothing: %s',
    async (_name, row) => {
      const fixtures = await createFixtures(world)
      const schema = bodySchemaOf(row) ?? {}
      const faults: string[] = []
      let before = await fingerprintOf(world)
      const judge = async (what: string, raw: string, isFine: (answer: Answer) => boolean) => {
        const answer = await ask(fixtures, row, pathOf(row, fixtures), raw)
        if (!isFine(answer)) faults.push(`${what}: ${answer.status}`)
        // A failed call to an external service may leave a job that repeats it.
        if (!isRefusal(answer)) before = await fingerprintOf(world)
      }
      /** Refusals are many, so what they changed is looked for once for each field. */
      const requireUnchanged = async (what: string) => {
        const changed = (await changesSince(world, before)).filter(
          (table) => !witnessed.get(nameOf(row))?.includes(table),
        )
        if (changed.length > 0) faults.push(`${what} changed ${changed.join()}`)
      }
      await judge('a body that is too long', tooLong, ({ status }) => status === 413)
      for (const { name, raw } of hostileBodies) await judge(`the body ${name}`, raw, isRefusal)
      for (const { name, raw } of emptyBodies) {
        await judge(
          `the body ${name}`,
          raw,
          (answer) => isRefusal(answer) || answer.status === successOf(row) || isAway(answer),
        )
      }
      await requireUnchanged('a whole body')
      for (const field of fieldsOf(schema)) {
        const path = field.path.join('.')
        const mustRefuse = !tolerant.get(nameOf(row))?.test(path)
        const isFine = (answer: Answer) =>
          isRefusal(answer) || (!mustRefuse && answer.status === successOf(row))
        for (const { name, raw } of [...hostile, ...unfitFor(field)]) {
          await judge(`${path} = ${name}`, sampleText(schema, field.path, raw), isFine)
        }
        for (const { name, raw } of odd) {
          await judge(`${path} = ${name}`, sampleText(schema, field.path, raw), (answer) => !isFault(answer))
        }
        await requireUnchanged(path)
      }
      expect(faults).toEqual([])
    },
    timeoutMs,
  )
})

describe('queries that do not fit', () => {
  const withQuery = routes.filter((row) => querySchemaOf(row) !== null)
  /** Their page has bounds, as in the Pterodactyl API. */
  const strictPages = [
    'GET /api/client/account/activity',
    'GET /api/client/servers/:server/activity',
    'GET /api/client/servers/:server/trash',
    'GET /api/application/nodes/deployable',
    'GET /api/application/nodes/placement',
  ]
  /** Reads of these are recorded. */
  const recorded = ['GET /api/client/servers/:server/files/download']
  const junk = ['0', '-1', '1.5', 'abc', '', '1e3', '99999999999999999999', '%20', '0x10']
  const oddQueries = [
    'page[]=1',
    'page[a]=1',
    'per_page[]=1',
    'include[]=a',
    'include[a]=b',
    'include=constructor,__proto__',
    'a[b]=c',
    '[]=1',
    '%ff=1',
    'include=%ff',
    '=',
    '&&',
    `x=${'y'.repeat(10_000)}`,
  ]

  it.each(routesOfEachSurface(withQuery))(
    'change nothing on the %s surface',
    async (_surface, rows) => {
      const fixtures = await createFixtures(world)
      const before = await fingerprintOf(world)
      const faults: string[] = []
      const judge = async (row: RouteRow, text: string, isFine: (answer: Answer) => boolean) => {
        const answer = await ask(fixtures, row, `${pathOf(row, fixtures)}?${text}`)
        if (!isFine(answer)) faults.push(`${nameOf(row)}?${text.slice(0, 60)}: ${answer.status}`)
      }
      for (const row of rows) {
        const fields = propertiesOf(querySchemaOf(row) ?? {})
        const isFine = (answer: Answer) => !isFault(answer)
        const isPaged = 'per_page' in fields && !strictPages.includes(nameOf(row))
        for (const value of junk) {
          for (const name of ['page', 'per_page']) {
            await judge(row, `${name}=${value}`, isPaged ? ({ status }) => status === successOf(row) : isFine)
          }
        }
        for (const text of oddQueries) await judge(row, text, isFine)
        for (const [name, schema] of Object.entries(fields)) {
          const members = Object.keys(propertiesOf(schema))
          const spelt = members.length > 0 ? members.map((member) => `${name}[${member}]`) : [name]
          for (const each of spelt) {
            for (const value of ['a%00b', '%ed%a0%80']) await judge(row, `${each}=${value}`, isFine)
            for (const suffix of [
              '[]=x',
              '[a]=x',
              `=${'x'.repeat(5000)}`,
              '=',
              "='",
              '=%25',
              '=-1',
              '=1e309',
            ]) {
              await judge(row, `${each}${suffix}`, isFine)
            }
          }
        }
        if ('filter' in fields) {
          await judge(row, 'filter[no_such_field]=x', ({ status }) => status === 400)
          await judge(row, 'filter[__proto__]=x', isRefusal)
          await judge(row, 'filter=x', isFine)
        }
        if ('sort' in fields) await judge(row, 'sort=no_such_field', ({ status }) => status === 400)
        await judge(row, `a${'[b]'.repeat(32)}=1`, isRefusal)
        await judge(row, 'page=a%00b', isRefusal)
      }
      expect(faults).toEqual([])
      const mayChange = rows.some((row) => recorded.includes(nameOf(row))) ? ['activity'] : []
      expect(await changesSince(world, before)).toEqual(mayChange)
    },
    timeoutMs,
  )
})
