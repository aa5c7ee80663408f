import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { mountedRoutes } from '../../src/cli/api-info.ts'
import { subusers } from '../../src/db/schema.ts'
import { allPermissions, type Permission } from '../../src/domain/permissions.ts'
import { factOfKind, type RouteRow } from '../../src/http/facts.ts'
import { newSessionToken } from '../../src/domain/sessions.ts'
import { signMessage } from '../../src/platform/local/qstash-signature.ts'
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
import { entitled, openScene, pathOf, routesOfEachSurface, type Scene } from './scene.ts'
import { forgeries, staleTokens } from './stolen-sessions.ts'

const world = useWorld()
const routes = mountedRoutes()
const credentialOf = (row: RouteRow) => factOfKind(row, 'credential')?.name ?? ''
const permissionOf = (row: RouteRow) => factOfKind(row, 'permission')?.name ?? ''
const nameOf = (row: RouteRow) => `${row.method} ${row.path}`
const longest = 90_000

/** Sends a body that fits, so that nothing else is refused. */
async function send(row: RouteRow, scene: Scene, options: RequestOptions): Promise<Answer> {
  const schema = bodySchemaOf(row)
  const raw = schema === null ? {} : { raw: sampleText(schema) }
  return world.request(row.method, pathOf(row, scene), { ...raw, ...options })
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

/** The same key with its last letter changed. */
const wrong = (token: string) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')

/** Browsers in which nobody is signed in, or nobody any more. */
const visitorsWithoutAccount = async (scene: Scene): Promise<Attempt[]> =>
  [scene.guestToken, newSessionToken(), ...(await staleTokens(world, scene))].map((token, at) => ({
    name: `the session of a guest, no. ${at}`,
    options: { headers: pageHeaders(world, token) },
    status: 401,
  }))

/** Guests where somebody must be signed in, and the other way round. */
async function wrongVisitors(scene: Scene, row: RouteRow): Promise<Attempt[]> {
  const headers = pageHeaders(world, scene.sessionToken)
  switch (permissionOf(row)) {
    case 'signed in':
      return visitorsWithoutAccount(scene)
    case 'signed in, administrator':
      return [
        ...(await visitorsWithoutAccount(scene)),
        { name: 'the session of somebody who is no administrator', options: { headers }, status: 403 },
      ]
    case 'guest':
      return [{ name: 'the session of somebody who is signed in', options: { headers }, status: 302 }]
    default:
      return []
  }
}

/** Every way of knocking that opens no route with this credential. */
const attempts: Record<string, (scene: Scene, row: RouteRow) => Promise<Attempt[]>> = {
  'application key': async (scene) => {
    const administrator = await makeUser(world, { rootAdmin: true })
    const plain = await makeKey(world, scene.other, { type: 'application', acl: fullAcl })
    return [
      ...malformedKeys,
      { name: 'a wrong secret', options: { token: wrong(scene.applicationToken) }, status: 401 },
      { name: 'the token of a node', options: { token: scene.node.token }, status: 401 },
      { name: 'a client key', options: { token: scene.clientToken }, status: 403 },
      {
        name: 'a client key of an administrator',
        options: { token: await makeClientToken(world, administrator) },
        status: 403,
      },
      { name: 'a key of somebody who is no administrator', options: { token: plain.token }, status: 403 },
    ]
  },
  'browser session': async (scene, row) => {
    const own = await entitled(world, row, scene, pathOf(row, scene))
    const keys = [
      ...malformedKeys.filter(({ options }) => options.headers?.authorization?.startsWith('Bearer')),
      { name: 'a client key', options: { token: scene.clientToken }, status: 401 },
      { name: 'an application key', options: { token: scene.applicationToken }, status: 401 },
    ]
    const besideSession = keys.map(({ name, options, status }) => ({
      name: `${name} beside a session`,
      options: { ...own, ...options, headers: { ...own.headers, ...options.headers } },
      status,
    }))
    return [...keys, ...besideSession, ...forgeries(row, own), ...(await wrongVisitors(scene, row))]
  },
  'client key or session': async (scene, row) => [
    ...malformedKeys,
    ...forgeries(row, { headers: pageHeaders(world, scene.sessionToken) }),
    ...(await visitorsWithoutAccount(scene)),
    {
      name: 'a wrong key beside a session',
      options: { token: wrong(scene.clientToken), headers: pageHeaders(world, scene.sessionToken) },
      status: 401,
    },
    { name: 'a wrong secret', options: { token: wrong(scene.clientToken) }, status: 401 },
    { name: 'the token of a node', options: { token: scene.node.token }, status: 401 },
    { name: 'an application key', options: { token: scene.applicationToken }, status: 403 },
  ],
  'node token': async (scene) => [
    { name: 'none', options: {}, status: 401 },
    { name: 'no token', options: bearer('Bearer'), status: 401 },
    { name: 'another scheme', options: bearer('Basic dXNlcjpwYXNz'), status: 401 },
    { name: 'no dot', options: { token: 'x' }, status: 400 },
    { name: 'two dots', options: { token: 'a.b.c' }, status: 400 },
    { name: 'no id', options: { token: '.x' }, status: 400 },
    { name: 'no secret', options: { token: 'x.' }, status: 400 },
    { name: 'an application key', options: { token: scene.applicationToken }, status: 400 },
    { name: 'an unknown id', options: { token: 'unknown.secret' }, status: 403 },
    { name: 'a wrong secret', options: { token: wrong(scene.node.token) }, status: 403 },
  ],
  'queue signature': async (scene, row) => {
    const url = `${panelUrl}${pathOf(row, scene)}`
    const message = {
      key: signingKeys.current,
      url,
      body: sampleText(bodySchemaOf(row) ?? {}),
      now: world.clock.now,
    }
    const signed = async (changes: Partial<typeof message>) => ({
      headers: { 'upstash-signature': await signMessage({ ...message, ...changes }) },
    })
    return [
      { name: 'none', options: {}, status: 401 },
      { name: 'no token', options: { headers: { 'upstash-signature': 'x' } }, status: 401 },
      { name: 'an application key', options: { token: scene.applicationToken }, status: 401 },
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
  'metrics token': async (scene) => [
    { name: 'none', options: {}, status: 401 },
    { name: 'another one', options: { token: wrong(metricsToken) }, status: 401 },
    { name: 'an application key', options: { token: scene.applicationToken }, status: 401 },
    {
      name: 'the session of an administrator',
      options: { headers: pageHeaders(world, scene.administratorsToken) },
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
    'open the routes of the %s surface to nobody else',
    async (_surface, rows) => {
      const scene = await openScene(world)
      const faults: string[] = []
      for (const row of rows) {
        for (const { name, options, status } of (await attempts[credentialOf(row)]?.(scene, row)) ?? []) {
          const answer = await send(row, scene, options)
          const challenge = answer.headers.get('www-authenticate')
          if (answer.status !== status || (challenge !== null) !== (status === 401)) {
            faults.push(`${nameOf(row)} with ${name}: ${answer.status}, challenged ${challenge}`)
          }
        }
      }
      expect(faults).toEqual([])
    },
    longest,
  )
})

describe('levels of Application keys', () => {
  const levelled = routes.filter((row) => / (READ|WRITE)$/.test(permissionOf(row)))
  const levelless = routes.filter((row) => permissionOf(row) === 'administrator')

  it('guard every route of the Application API', () => {
    const open = routes.filter((row) => credentialOf(row) === 'application key')
    expect(open.length).toBe(levelled.length + levelless.length)
  })

  it(
    'open their routes, and no others',
    async () => {
      const scene = await openScene(world)
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
          const { status } = await send(row, scene, { token: await tokenWith(resource, held) })
          if ((status === 403) !== (held !== needed) || status === 401 || status === 500) {
            faults.push(`${nameOf(row)} with level ${held}: ${status}`)
          }
        }
      }
      expect(faults).toEqual([])
    },
    longest,
  )

  it('do not matter where the table names none', async () => {
    const scene = await openScene(world)
    const token = await makeApplicationToken(world, {})
    for (const row of levelless) {
      expect([401, 403], nameOf(row)).not.toContain((await send(row, scene, { token })).status)
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
      const scene = await openScene(world)
      const stranger = await makeClientToken(world, await makeUser(world))
      const member = await makeUser(world)
      const membership = await makeSubuser(world, scene.server, member, [])
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
        const answer = await send(row, scene, { token: as })
        if (!isFine(answer))
          faults.push(`${nameOf(row)} as ${who}: ${answer.status} ${answer.text.slice(0, 200)}`)
      }
      for (const row of below) {
        const needed = neededFor(row)
        await expectOf(row, 'a stranger', stranger, ({ status }) => status === 404)
        await allow(allPermissions.filter((each) => !needed.includes(each)))
        if (!isOpen(row)) await expectOf(row, 'one who lacks them', token, ({ status }) => status === 403)
        await allow(needed)
        await expectOf(row, 'one who holds just them', token, (answer) =>
          isOpen(row) ? ![403, 404].includes(answer.status) : !/needs the permission/.test(answer.text),
        )
      }
      expect(faults).toEqual([])
    },
    longest,
  )
})
