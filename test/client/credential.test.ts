import { beforeEach, describe, expect, it } from 'vitest'
import { eq } from 'drizzle-orm'
import { apiKeys } from '../../src/db/schema.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeKey,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { createSession } from '../../src/domain/auth/sessions.ts'
import type { Answer } from '../support/answers.ts'
import { pageHeaders } from '../support/browser.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'

const world = useWorld()
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>
let path: string

beforeEach(async () => {
  owner = await makeUser(world)
  server = await makeServer(world, { owner })
  path = `/api/client/servers/${server.uuid}`
})

const get = (at: string, token?: string) => world.request('GET', at, token ? { token } : {})
const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]

describe('the Client API', () => {
  it('AU-11: refuses callers without a valid key', async () => {
    for (const at of ['/api/client', '/api/client/permissions', path, '/api/client/nothing']) {
      expect(codeOf(await get(at))).toEqual([401, 'AuthenticationException'])
    }
    const { row, token } = await makeKey(world, owner, { type: 'account' })
    expect((await get(path, `${row.identifier}${'x'.repeat(32)}`)).status).toBe(401)
    expect((await get(path, row.identifier)).status).toBe(401)
    expect((await get(path, token)).status).toBe(200)
    await world.database.db.update(apiKeys).set({ expiresAt: world.clock.now })
    expect((await get(path, token)).status).toBe(401)
  })

  it('AU-11: refuses an unknown key as it refuses a wrong secret: same words, same statements', async () => {
    const { row, token } = await makeKey(world, owner, { type: 'account' })
    const refusalOf = async (wrong: string) => {
      world.database.statements.length = 0
      const { status, text, headers } = await get(path, wrong)
      const names = [...headers.keys()].toSorted((one, other) => one.localeCompare(other))
      return { status, text, names, statements: [...world.database.statements] }
    }
    const wrongSecret = await refusalOf(`${row.identifier}${'x'.repeat(32)}`)
    expect(wrongSecret).toMatchObject({ status: 401, statements: [expect.any(String)] })
    expect(await refusalOf(`ptlc_${'x'.repeat(43)}`)).toEqual(wrongSecret)
    const anothersSecret = (await makeKey(world, owner, { type: 'account' })).token.slice(16)
    expect(await refusalOf(`${row.identifier}${anothersSecret}`)).toEqual(wrongSecret)
    expect((await get(path, token)).status).toBe(200)
  })

  it('takes no Application key', async () => {
    const token = await makeApplicationToken(world)
    expect(codeOf(await get('/api/client', token))).toEqual([403, 'AccessDeniedHttpException'])
    expect(codeOf(await get(path, token))).toEqual([403, 'AccessDeniedHttpException'])
  })

  it('NW-2: takes a key only from the addresses it allows, and records the others', async () => {
    const allowedIps = ['203.0.113.0/28', '2001:db8::1']
    const { token, row } = await makeKey(world, owner, { type: 'account', allowedIps, lastUsedAt: null })
    const from = (ip: string) => world.request('GET', path, { token, ip })
    expect((await from('203.0.113.9')).status).toBe(200)
    expect((await from('2001:db8::1')).status).toBe(200)
    expect(await world.events()).toEqual([])
    expect(codeOf(await from('203.0.113.16'))).toEqual([403, 'AccessDeniedHttpException'])
    expect(await world.events()).toEqual(['auth:ip-blocked'])
    const [used] = await world.database.db.select().from(apiKeys).where(eq(apiKeys.id, row.id))
    expect(used?.lastUsedAt).toEqual(world.clock.now)
  })

  it('AU-11: notes the use of a key at most once a minute', async () => {
    const { token, row } = await makeKey(world, owner, { type: 'account', lastUsedAt: null })
    const lastUsed = async () => {
      const [key] = await world.database.db.select().from(apiKeys).where(eq(apiKeys.id, row.id))
      return key?.lastUsedAt
    }
    const first = world.clock.now
    await get(path, token)
    world.clock.advance(59)
    await get('/api/client', token)
    expect(await lastUsed()).toEqual(first)
    world.clock.advance(2)
    await get('/api/client/permissions', token)
    expect(await lastUsed()).toEqual(world.clock.now)
  })

  it('limits the requests of a user over all of their keys and says how many are left', async () => {
    Object.assign(world.services, { config: { ...world.services.config, clientRateLimit: 2 } })
    const first = await get('/api/client', await makeClientToken(world, owner))
    expect(first.headers.get('x-ratelimit-limit')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1')
    const token = await makeClientToken(world, owner)
    expect((await get('/api/client/servers/nowhere', token)).status).toBe(404)
    const refused = await get(path, token)
    expect(codeOf(refused)).toEqual([429, 'ThrottleRequestsException'])
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBeGreaterThan(world.clock.now.getTime() / 1000)
    const other = await makeClientToken(world, await makeUser(world))
    expect((await get('/api/client', other)).status).toBe(200)
    world.clock.advance(61)
    expect((await get(path, token)).status).toBe(200)
  })

  it('hides servers from those who have nothing to do with them', async () => {
    const token = await makeClientToken(world, await makeUser(world))
    const requests = [
      ['GET', ''],
      ['GET', '/websocket'],
      ['GET', '/resources'],
      ['POST', '/power'],
      ['POST', '/command'],
    ] as const
    for (const [method, rest] of requests) {
      const answer = await world.request(method, `${path}${rest}`, { token })
      expect(codeOf(answer)).toEqual([404, 'NotFoundHttpException'])
    }
    expect(await world.events()).toEqual([])
  })

  it('finds a server by its uuid or its short id and by nothing else', async () => {
    const token = await makeClientToken(world, owner)
    expect((await get(`/api/client/servers/${server.uuidShort}`, token)).status).toBe(200)
    expect((await get(`/api/client/servers/${server.uuid.toUpperCase()}/`, token)).status).toBe(200)
    const others = [
      server.id,
      crypto.randomUUID(),
      '0'.repeat(8),
      server.uuid.slice(0, 9),
      "'",
      'x'.repeat(500),
    ]
    for (const name of others) {
      expect((await get(`/api/client/servers/${name}`, token)).status).toBe(404)
    }
  })

  it('refuses what a subuser was not given', async () => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['user.read'])
    const token = await makeClientToken(world, friend)
    const command = await world.request('POST', `${path}/command`, { token, body: {} })
    expect(codeOf(command)).toEqual([403, 'AccessDeniedHttpException'])
    expect(codeOf(await get(`${path}/websocket`, token))).toEqual([403, 'HttpForbiddenException'])
    expect(codeOf(await world.request('DELETE', path, { token }))).toEqual([
      405,
      'MethodNotAllowedHttpException',
    ])
  })
})

describe('the data of a route', () => {
  const count = async (at: string, options: RequestOptions) => {
    const answers: Answer[] = []
    const statements = await world.countStatements(async () =>
      answers.push(await world.request('GET', at, options)),
    )
    return [answers[0]?.status, statements]
  }

  it('is read with the caller, under a key and under a session', async () => {
    const token = await makeClientToken(world, owner)
    const { token: cookie } = await createSession({ ...world.panel, ip: '192.0.2.1' }, owner, {
      userAgent: 'test',
      previous: null,
      remember: false,
    })
    const session = { headers: pageHeaders(world, cookie) }
    for (const at of [path, '/api/client', '/api/client?filter[name]=x', '/api/client/account']) {
      expect(await count(at, { token })).toEqual([200, 1])
      expect(await count(at, session)).toEqual([200, 1])
    }
  })

  it('changes no refusal, nor their order', async () => {
    const token = await makeClientToken(world, owner)
    const foreign = await makeClientToken(world, await makeUser(world))
    expect(await count('/api/client?filter[nothing]=x', {})).toEqual([401, 0])
    expect(await count('/api/client?filter[nothing]=x', { token: `${token.slice(0, -1)}_` })).toEqual([
      401, 1,
    ])
    expect(await count('/api/client?filter[nothing]=x', { token })).toEqual([400, 1])
    expect(await count(path, { token: foreign })).toEqual([404, 1])
    await world.database.db.update(apiKeys).set({ allowedIps: ['203.0.113.9'] })
    const refused = await world.request('GET', path, { token })
    expect([refused.status, Object.keys(refused.body)]).toEqual([403, ['errors']])
  })

  it('is read in a statement of its own when a body says which: it is not read before the caller is known', async () => {
    const token = await makeClientToken(world, owner)
    const declared = { 'content-type': 'application/json' }
    const announced = { ...declared, 'content-length': '2' }
    for (const at of [path, '/api/client']) {
      expect(await count(at, { token, headers: declared })).toEqual([200, 1])
      expect(await count(at, { token, headers: announced })).toEqual([200, 2])
      const { body } = await world.request('GET', at, { token })
      expect((await world.request('GET', at, { token, headers: announced })).body).toEqual(body)
    }
  })
})
