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
import { useWorld } from '../support/world.ts'

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
    const { token, row } = await makeKey(world, owner, { type: 'account', allowedIps })
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
    const { token, row } = await makeKey(world, owner, { type: 'account' })
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
