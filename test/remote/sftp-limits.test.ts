import { like } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { throttles } from '../../src/db/schema.ts'
import { maxPasswordChecks, withPasswordCheck } from '../../src/domain/auth/password-hash.ts'
import { openBrowser } from '../support/browser.ts'
import { known, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let node: Awaited<ReturnType<typeof makeNode>>
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>
let networks = 0

beforeEach(async () => {
  networks = 0
  node = await makeNode(world)
  owner = await makeUser(world, {
    username: 'steve',
    email: 'steve@example.test',
    passwordHash: known.passwordHash,
  })
  server = await makeServer(world, { node, owner })
})

const newNetwork = () => {
  networks += 1
  return `203.0.${100 + Math.floor(networks / 250)}.${(networks % 250) + 1}`
}

type Attempt = { name?: string; ip?: string; password?: string; type?: string; token?: string }

const login = ({
  name = 'steve',
  ip = newNetwork(),
  password = known.password,
  type = 'password',
  token = node.token,
}: Attempt = {}) =>
  world.request('POST', '/api/remote/sftp/auth', {
    token,
    body: {
      type,
      username: `${name}.${server.uuidShort}`,
      password,
      ip: ip.includes(':') ? `[${ip}]:51234` : `${ip}:51234`,
    },
  })
/** Makes `count` calls, as many at once as passwords may be checked. */
async function inGroups<T>(count: number, call: (at: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  while (answers.length < count) {
    const size = Math.min(maxPasswordChecks, count - answers.length)
    const from = answers.length
    answers.push(...(await Promise.all(Array.from({ length: size }, (_, at) => call(from + at)))))
  }
  return answers
}

const statusOf = async (attempt?: Attempt) => (await login(attempt)).status

const webLogin = async (user: string, password: string) =>
  (await openBrowser(world, { ip: newNetwork() })).request('POST', '/auth/login', { user, password })

const hitsOf = async (kind: string) =>
  (
    await world.database.db
      .select()
      .from(throttles)
      .where(like(throttles.key, `${kind}:%`))
  ).map(({ hits }) => hits)

describe('AU-8: SFTP passwords share the login limiter by name', () => {
  it('wrong ones make unknown browsers wait, under every spelling', async () => {
    for (let at = 0; at < 21; at += 1) {
      expect(await statusOf({ name: at % 2 ? 'STEVE' : 'steve', password: 'wrong' })).toBe(403)
    }
    expect((await webLogin('Steve@example.test', known.password)).status).toBe(429)
    expect(await statusOf()).toBe(429)
    await world.runJobs()
    expect((await world.mails()).map(({ to }) => to)).toEqual([owner.email])
    world.clock.advance(2)
    expect(await statusOf()).toBe(200)
  })

  it('wrong ones in the browser make SFTP clients wait, at most two minutes', async () => {
    for (let at = 0; at < 21; at += 1) {
      expect((await webLogin('steve@example.test', 'wrong')).status).toBe(400)
    }
    for (let at = 0; at < 8; at += 1) {
      const refused = await login()
      expect([refused.status, refused.body.errors[0].code]).toEqual([429, 'TooManyRequestsHttpException'])
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeLessThanOrEqual(120)
      world.clock.advance(seconds)
      expect(await statusOf({ password: 'wrong' })).toBe(403)
    }
  })

  it('right ones, and keys, do not count', async () => {
    for (let at = 0; at < 25; at += 1) expect(await statusOf()).toBe(200)
    for (let at = 0; at < 25; at += 1) expect(await statusOf({ type: 'public_key', password: 'x' })).toBe(403)
    expect(await hitsOf('login-account')).toEqual([0])
    expect([await hitsOf('sftp-site'), await hitsOf('sftp-node')]).toEqual([Array(25).fill(0), [0]])
  })

  it('names without an account are counted alike', async () => {
    for (let at = 0; at < 21; at += 1) {
      expect(await statusOf({ name: at % 2 ? 'No-One' : 'no-one' })).toBe(403)
    }
    expect(await statusOf({ name: 'no-one' })).toBe(429)
    expect((await webLogin('no-one', 'wrong')).status).toBe(429)
    expect(await statusOf()).toBe(200)
  })

  it('many at once get no more attempts than one after the other', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => login({ ip: newNetwork(), password: 'wrong' })),
    )
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(21)
  })
})

describe('RM-7: wrong SFTP passwords are bounded by where they come from', () => {
  it('60 a minute from one IPv4 address, for whatever names at whatever nodes', async () => {
    const other = await makeNode(world)
    const ip = '198.51.100.7'
    for (let at = 0; at < 60; at += 1) {
      const token = at % 2 ? other.token : node.token
      expect(await statusOf({ name: `name${at}`, ip, token, password: 'wrong' })).toBe(403)
    }
    const refused = await login({ ip })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await statusOf({ ip: '198.51.100.8' })).toBe(200)
    world.clock.advance(60)
    expect(await statusOf({ ip })).toBe(200)
  })

  it('60 a minute from one /48 of IPv6', async () => {
    for (let at = 0; at < 60; at += 1) {
      const ip = `2001:db8:7:${at.toString(16)}::1`
      expect(await statusOf({ name: `name${at}`, ip, password: 'wrong' })).toBe(403)
    }
    expect(await statusOf({ ip: '2001:db8:7:ffff::1' })).toBe(429)
    expect(await statusOf({ ip: '2001:db8:8::1' })).toBe(200)
  })

  it('300 a minute from one node that asks, of which no site uses up more than 60', async () => {
    const other = await makeNode(world)
    const elsewhere = await makeServer(world, { node: other, owner })
    await statusOf({ ip: '198.51.100.7', name: 'name', password: 'wrong' })
    await world.database.db.update(throttles).set({ hits: 60 }).where(like(throttles.key, 'sftp-site:%'))
    expect(await statusOf({ ip: '198.51.100.7' })).toBe(429)
    expect(await hitsOf('sftp-node')).toEqual([1])
    const waves = Array.from({ length: 5 }, (_, wave) => wave)
    let refused = 0
    for (const wave of waves) {
      const answers = await inGroups(62, (at) => login({ name: `name${wave}-${at}`, password: 'wrong' }))
      refused += answers.filter(({ status }) => status === 429).length
    }
    expect(refused).toBe(5 * 62 - 299)
    expect(await statusOf()).toBe(429)
    expect(await statusOf({ type: 'public_key', password: 'x' })).toBe(403)
    server = elsewhere
    expect(await statusOf({ token: other.token })).toBe(200)
    world.clock.advance(60)
    expect(await statusOf({ token: other.token })).toBe(200)
  })

  it('is exact for many at once', async () => {
    const answers = await inGroups(80, (at) =>
      login({ name: `name${at}`, ip: '198.51.100.7', password: 'wrong' }),
    )
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(60)
  })
})

it('RM-8: more passwords at once than a process checks get 503, and are not counted', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const waiting = Array.from({ length: maxPasswordChecks }, () => withPasswordCheck(() => opened))
  try {
    const { status, headers, body } = await login({ password: 'wrong' })
    expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '5' })
    expect(body.errors).toMatchObject([{ code: 'ServiceOverloadedException' }])
    expect((await webLogin('steve', known.password)).status).toBe(503)
    expect(await world.database.db.select().from(throttles)).toEqual([])
    // A key takes no hash.
    expect(await statusOf({ type: 'public_key', password: 'x' })).toBe(403)
  } finally {
    open()
    await Promise.all(waiting)
  }
  expect(await statusOf()).toBe(200)
})
