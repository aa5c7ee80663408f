import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { subusers } from '../../src/db/schema.ts'
import { allPermissions, type Permission } from '../../src/domain/permissions.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import { newSessionToken } from '../../src/domain/auth/sessions.ts'
import { signMessage } from '../../src/dev/qstash/signature.ts'
import type { Answer } from '../support/answers.ts'
import { pageHeaders } from '../support/browser.ts'
import {
  fullAcl,
  makeApplicationToken,
  makeClientToken,
  makeKey,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { metricsToken, panelUrl, type RequestOptions, signingKeys, useWorld } from '../support/world.ts'
import { permissionsIn } from './contract-files.ts'
import { bodySchemaOf, sampleText } from './garbage.ts'
import { entitledOptions, createFixtures, pathOf, routesOfEachSurface, type Fixtures } from './fixtures.ts'
import { forgeries, staleTokens } from './stolen-sessions.ts'

const world = useWorld()
const routes = listMountedRoutes()
const credentialOf = (row: RouteRow) => findMetadata(row, 'credential')?.name ?? ''
const permissionOf = (row: RouteRow) => findMetadata(row, 'permission')?.name ?? ''
const nameOf = (row: RouteRow) => `${row.method} ${row.path}`
const timeoutMs = 90_000

/** Sends a body that fits, so that nothing else is refused. */
async function send(row: RouteRow, fixtures: Fixtures, options: RequestOptions): Promise<Answer> {
  const schema = bodySchemaOf(row)
  const raw = schema === null ? {} : { raw: sampleText(schema) }
  return world.request(row.method, pathOf(row, fixtures), { ...raw, ...options })
}

type Attempt = { name: string; options: RequestOptions; status: number }
const bearer = (value: string): RequestOptions => ({ headers: { authorization: value } })

const malformedKeys: Attempt[] = [
  { name: 'none', options: {}, status: 401 },
  { name: 'no token', options: bearer('Bearer'), status: 401 },
  { name: 'a short token', options: bearer('Bearer x'), status: 401 },
  { name: 'another scheme', options: bearer('Basic dXNlcjpwYXNz'), status: 401 },
  { name: 'two tokens', options: bearer('Bearer a b'), status: 401 },
  { name: 'a long token', options: bearer(`Bearer ${'a'.repeat(10_000)}`), status: 401 },
  { name: 'an unknown key', options: bearer(`Bearer ptlc_${'a'.repeat(43)}`), status: 401 },
  { name: 'letters beyond ASCII', options: bearer(`Bearer ${'\u00e9'.repeat(48)}`), status: 401 },
]

/** Changes the last letter of a key. */
const wrong = (token: string) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')

/** Lists browsers without a session, or with an ended one. */
const guestAttempts = async (fixtures: Fixtures): Promise<Attempt[]> =>
  [fixtures.guestToken, newSessionToken(), ...(await staleTokens(world, fixtures))].map((token, at) => ({
    name: `the session of a guest, no. ${at}`,
    options: { headers: pageHeaders(world, token) },
    status: 401,
  }))

/** Lists guests where a session is needed, and sessions where a guest is. */
async function wrongSessionAttempts(fixtures: Fixtures, row: RouteRow): Promise<Attempt[]> {
  const headers = pageHeaders(world, fixtures.sessionToken)
  switch (permissionOf(row)) {
    case 'signed in':
      return guestAttempts(fixtures)
    case 'signed in, administrator':
      return [
        ...(await guestAttempts(fixtures)),
        { name: 'the session of a user who is no administrator', options: { headers }, status: 403 },
      ]
    case 'guest':
      return [{ name: 'the session of a signed-in user', options: { headers }, status: 302 }]
    default:
      return []
  }
}

/** Lists every attempt that must be refused by a route with this credential. */
const attempts: Record<string, (fixtures: Fixtures, row: RouteRow) => Promise<Attempt[]>> = {
  'application key or session': async (fixtures, row) => {
    const administrator = await makeUser(world, { rootAdmin: true })
    const plain = await makeKey(world, fixtures.other, { type: 'application', acl: fullAcl })
    return [
      ...malformedKeys,
      ...forgeries(row, { headers: pageHeaders(world, fixtures.administratorsToken) }),
      ...(await guestAttempts(fixtures)),
      {
        name: 'the session of a user who is no administrator',
        options: { headers: pageHeaders(world, fixtures.sessionToken) },
        status: 403,
      },
      {
        name: 'a wrong key beside a session',
        options: {
          token: wrong(fixtures.applicationToken),
          headers: pageHeaders(world, fixtures.administratorsToken),
        },
        status: 401,
      },
      { name: 'a wrong secret', options: { token: wrong(fixtures.applicationToken) }, status: 401 },
      { name: 'the token of a node', options: { token: fixtures.node.token }, status: 401 },
      { name: 'a client key', options: { token: fixtures.clientToken }, status: 403 },
      {
        name: 'a client key of an administrator',
        options: { token: await makeClientToken(world, administrator) },
        status: 403,
      },
      { name: 'a key of a user who is no administrator', options: { token: plain.token }, status: 403 },
    ]
  },
  'browser session': async (fixtures, row) => {
    const own = await entitledOptions(world, row, fixtures, pathOf(row, fixtures))
    const keys = [
      ...malformedKeys.filter(({ options }) => options.headers?.authorization?.startsWith('Bearer')),
      { name: 'a client key', options: { token: fixtures.clientToken }, status: 401 },
      { name: 'an application key', options: { token: fixtures.applicationToken }, status: 401 },
    ]
    const besideSession = keys.map(({ name, options, status }) => ({
      name: `${name} beside a session`,
      options: { ...own, ...options, headers: { ...own.headers, ...options.headers } },
      status,
    }))
    return [...keys, ...besideSession, ...forgeries(row, own), ...(await wrongSessionAttempts(fixtures, row))]
  },
  'client key or session': async (fixtures, row) => [
    ...malformedKeys,
    ...forgeries(row, { headers: pageHeaders(world, fixtures.sessionToken) }),
    ...(await guestAttempts(fixtures)),
    {
      name: 'a wrong key beside a session',
      options: { token: wrong(fixtures.clientToken), headers: pageHeaders(world, fixtures.sessionToken) },
      status: 401,
    },
    { name: 'a wrong secret', options: { token: wrong(fixtures.clientToken) }, status: 401 },
    { name: 'the token of a node', options: { token: fixtures.node.token }, status: 401 },
    { name: 'an application key', options: { token: fixtures.applicationToken }, status: 403 },
  ],
  'node token': async (fixtures) => [
    { name: 'none', options: {}, status: 401 },
    { name: 'no token', options: bearer('Bearer'), status: 401 },
    { name: 'another scheme', options: bearer('Basic dXNlcjpwYXNz'), status: 401 },
    { name: 'no dot', options: { token: 'x' }, status: 400 },
    { name: 'two dots', options: { token: 'a.b.c' }, status: 400 },
    { name: 'no id', options: { token: '.x' }, status: 400 },
    { name: 'no secret', options: { token: 'x.' }, status: 400 },
    { name: 'an application key', options: { token: fixtures.applicationToken }, status: 400 },
    { name: 'an unknown id', options: { token: 'unknown.secret' }, status: 403 },
    { name: 'a wrong secret', options: { token: wrong(fixtures.node.token) }, status: 403 },
  ],
  'queue signature': async (fixtures, row) => {
    const url = `${panelUrl}${pathOf(row, fixtures)}`
    const message = {
      key: signingKeys.current,
      url,
      body: sampleText(bodySchemaOf(row) ?? {}),
      now: world.clock.now,
    }
    const signed = async (changes: Partial<typeof message>) => ({
      headers: { 'upstash-signature': signMessage({ ...message, ...changes }) },
    })
    return [
      { name: 'none', options: {}, status: 401 },
      { name: 'no token', options: { headers: { 'upstash-signature': 'x' } }, status: 401 },
      { name: 'an application key', options: { token: fixtures.applicationToken }, status: 401 },
      { name: 'another key', options: await signed({ key: 'sig_of_somebody_else_entirely' }), status: 401 },
      { name: 'another address', options: await signed({ url: `${url}/x` }), status: 401 },
      { name: 'another body', options: await signed({ body: '{"job":1}' }), status: 401 },
      {
        name: 'an old one',
        options: await signed({ now: new Date(world.clock.now.getTime() - 3.6e6) }),
        status: 401,
      },
    ]
  },
  'metrics token': async (fixtures) => [
    { name: 'none', options: {}, status: 401 },
    { name: 'another one', options: { token: wrong(metricsToken) }, status: 401 },
    { name: 'an application key', options: { token: fixtures.applicationToken }, status: 401 },
    {
      name: 'the session of an administrator',
      options: { headers: pageHeaders(world, fixtures.administratorsToken) },
      status: 401,
    },
  ],
  none: async () => [],
}

describe('credentials', () => {
  it('are all known here, with every way of not having them', () => {
    expect(routes.map(credentialOf).filter((name) => !(name in attempts))).toEqual([])
  })

  it.each(routesOfEachSurface(routes))(
    'open the routes of the %s surface to no other caller',
    async (_surface, rows) => {
      const fixtures = await createFixtures(world)
      const faults: string[] = []
      for (const row of rows) {
        for (const { name, options, status } of (await attempts[credentialOf(row)]?.(fixtures, row)) ?? []) {
          const answer = await send(row, fixtures, options)
          const challenge = answer.headers.get('www-authenticate')
          if (answer.status !== status || (challenge !== null) !== (status === 401)) {
            faults.push(`${nameOf(row)} with ${name}: ${answer.status}, challenged ${challenge}`)
          }
        }
      }
      expect(faults).toEqual([])
    },
    timeoutMs,
  )
})

describe('levels of Application keys', () => {
  const levelled = routes.filter((row) => /^\w+ (READ|WRITE)$/.test(permissionOf(row)))
  const levelless = routes.filter((row) => permissionOf(row) === 'administrator')

  it('guard every route of the Application API', () => {
    const open = routes.filter((row) => credentialOf(row) === 'application key or session')
    expect(open.length).toBe(levelled.length + levelless.length)
  })

  it(
    'open their routes, and no others',
    async () => {
      const fixtures = await createFixtures(world)
      const tokens = new Map<string, string>()
      const tokenWith = async (resource: string, held: 0 | 1 | 2) => {
        const key = `${resource} ${held}`
        const token = tokens.get(key) ?? (await makeApplicationToken(world, { ...fullAcl, [resource]: held }))
        tokens.set(key, token)
        return token
      }
      const faults: string[] = []
      for (const row of levelled) {
        const [resource = '', level] = permissionOf(row).split(' ')
        const needed = level === 'READ' ? 1 : 2
        for (const held of [0, needed === 1 ? 2 : 1, needed] as const) {
          const { status } = await send(row, fixtures, { token: await tokenWith(resource, held) })
          if ((status === 403) !== (held !== needed) || status === 401 || status === 500) {
            faults.push(`${nameOf(row)} with level ${held}: ${status}`)
          }
        }
      }
      expect(faults).toEqual([])
    },
    timeoutMs,
  )

  it('do not matter for root where the table names none', async () => {
    const fixtures = await createFixtures(world)
    const token = await makeApplicationToken(world, {})
    for (const row of levelless) {
      expect([401, 403], nameOf(row)).not.toContain((await send(row, fixtures, { token })).status)
    }
  })
})

describe('permissions of subusers', () => {
  const below = routes.filter((row) => row.path.startsWith('/api/client/servers/:server'))
  const neededFor = (row: RouteRow) => permissionsIn(permissionOf(row))
  const isOpen = (row: RouteRow) => permissionOf(row) === 'access to server'

  it('are named by every route below a server, or access is enough', () => {
    expect(below.filter((row) => !isOpen(row) && neededFor(row).length === 0).map(nameOf)).toEqual([])
  })

  it(
    'open their routes, and no others',
    async () => {
      const fixtures = await createFixtures(world)
      const otherUser = await makeClientToken(world, await makeUser(world))
      const member = await makeUser(world)
      const membership = await makeSubuser(world, fixtures.server, member, [])
      const token = await makeClientToken(world, member)
      const allow = (permissions: Permission[]) =>
        world.database.db.update(subusers).set({ permissions }).where(eq(subusers.id, membership.id))
      const faults: string[] = []
      const expectOf = async (
        row: RouteRow,
        who: string,
        as: string,
        isFine: (answer: Answer) => boolean,
      ) => {
        const answer = await send(row, fixtures, { token: as })
        if (!isFine(answer))
          faults.push(`${nameOf(row)} as ${who}: ${answer.status} ${answer.text.slice(0, 200)}`)
      }
      for (const row of below) {
        const needed = neededFor(row)
        await expectOf(row, 'another user', otherUser, ({ status }) => status === 404)
        await allow(allPermissions.filter((each) => !needed.includes(each)))
        if (!isOpen(row)) await expectOf(row, 'one who lacks them', token, ({ status }) => status === 403)
        await allow(needed)
        await expectOf(row, 'one who holds just them', token, (answer) =>
          isOpen(row) ? ![403, 404].includes(answer.status) : !/needs the permission/.test(answer.text),
        )
      }
      expect(faults).toEqual([])
    },
    timeoutMs,
  )
})
