import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activity, jobs, passwordResets, sessions, users } from '../../src/db/schema.ts'
import { verifyPassword } from '../../src/domain/auth/password-hash.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser, known } from '../support/factories.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const { password: old, passwordHash } = known
let daemon: StubDaemon
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeAll(async () => {
  daemon = await startStubDaemon()
})
afterAll(() => daemon.close())
beforeEach(async () => {
  daemon.respond(null)
  daemon.calls.length = 0
  user = await makeUser(world, { passwordHash })
  token = await makeClientToken(world, user)
})

const change = (password: unknown, current: unknown = old, confirmation = password) =>
  world.request('PUT', '/api/client/account/password', {
    token,
    body: { current_password: current, password, password_confirmation: confirmation },
  })
const stored = async () => {
  const [row] = await world.database.db.select().from(users).where(eq(users.id, user.id))
  return row as NonNullable<typeof row>
}
const daemonCalls = () => daemon.calls.map(({ method, path, body }) => [`${method} ${path}`, body])

/** Inserts one session and one pending reset of each of these users. */
async function signIn(...people: { id: number }[]) {
  const expiresAt = new Date(Date.now() + 3.6e6)
  for (const { id: userId } of people) {
    await world.database.db
      .insert(sessions)
      .values({ id: `session of ${userId}`, userId, ip: '::1', expiresAt })
    await world.database.db.insert(passwordResets).values({ userId, tokenHash: `of ${userId}`, expiresAt })
  }
}
const signedIn = async () => ({
  sessions: (await world.database.db.select().from(sessions)).map(({ userId }) => userId),
  resets: (await world.database.db.select().from(passwordResets)).map(({ userId }) => userId),
})

describe('another password', () => {
  it('is stored, ends sessions and resets of its account, and leaves keys alone', async () => {
    const other = await makeUser(world)
    await signIn(user, other)
    const answer = await change('correct zebra')
    expect([answer.status, answer.text]).toEqual([204, ''])
    const row = await stored()
    expect(await verifyPassword('correct zebra', row.passwordHash)).toBe(true)
    expect(row.authVersion).toBe(user.authVersion + 1)
    expect(await signedIn()).toEqual({ sessions: [other.id], resets: [other.id] })
    const entries = await world.database.db.select().from(activity)
    expect(entries).toMatchObject([
      { event: 'user:account.password-changed', userId: user.id, actorId: user.id, properties: {} },
    ])
    expect((await world.request('GET', '/api/client/account', { token })).status).toBe(200)
  })

  it('AU-13: keeps its blanks, and has room for 8 to 1024 characters', async () => {
    for (const [current, password] of [
      [old, '        '],
      ['        ', ' x'.repeat(512)],
      [' x'.repeat(512), '12345678'],
    ]) {
      expect((await change(password, current)).status).toBe(204)
      expect(await verifyPassword(String(password), (await stored()).passwordHash)).toBe(true)
    }
  })

  it('AU-13: counts to its last character, and is taken as it was written', async () => {
    const long = `${'x'.repeat(80)}caf\u00e9`
    expect((await change(long)).status).toBe(204)
    const { passwordHash: kept } = await stored()
    for (const other of [long.slice(0, 72), long.normalize('NFD')]) {
      expect(await verifyPassword(other, kept), other).toBe(false)
    }
    const withNul = await change('correct\0zebra', long)
    expect([withNul.status, withNul.body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    expect(await verifyPassword(long, (await stored()).passwordHash)).toBe(true)
  })

  it.each([
    ['1234567', old, '1234567', ['password min']],
    ['x'.repeat(1025), old, 'x'.repeat(1025), ['password max']],
    ['correct zebra', old, 'correct zebr', ['password confirmed']],
    ['correct zebra', old, null, ['password confirmed']],
    [null, old, null, ['password required']],
    [12_345_678, old, 12_345_678, ['password string', 'password_confirmation string']],
    ['correct zebra', undefined, 'correct zebra', ['current_password required']],
    ['correct zebra', 'x'.repeat(1025), 'correct zebra', ['current_password max']],
  ])('AU-13: is refused by its rules: %s', async (password, current, confirmation, failures) => {
    const answer = await world.request('PUT', '/api/client/account/password', {
      token,
      body: { current_password: current, password, password_confirmation: confirmation },
    })
    expect(answer.status).toBe(422)
    expect(answer.body.errors.map(({ meta }: any) => `${meta.source_field} ${meta.rule}`)).toEqual(failures)
    expect((await stored()).passwordHash).toBe(passwordHash)
  })

  it('needs the present one, and changes nothing without', async () => {
    await signIn(user)
    const answer = await change('correct zebra', 'wrong horse')
    expect([answer.status, answer.body.errors[0].code]).toEqual([400, 'InvalidPasswordProvidedException'])
    expect(await stored()).toMatchObject({ passwordHash, authVersion: user.authVersion })
    expect(await signedIn()).toEqual({ sessions: [user.id], resets: [user.id] })
    expect(await world.events()).toEqual([])
  })

  it('is set once when ten set it at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => change(`zebra no. ${index}`)))
    expect(answers.filter(({ status }) => status === 204).length).toBe(1)
    expect(answers.filter(({ status }) => status === 400).length).toBe(9)
    expect(await world.events()).toEqual(['user:account.password-changed'])
    expect((await stored()).authVersion).toBe(user.authVersion + 1)
    const winner = answers.findIndex(({ status }) => status === 204)
    expect(await verifyPassword(`zebra no. ${winner}`, (await stored()).passwordHash)).toBe(true)
  })
})

describe('the credentials on daemons after a change of the password', () => {
  it('are revoked before the response, on owned and shared servers', async () => {
    const node = await makeNode(world, { daemonListen: daemon.port })
    const own = await makeServer(world, { node, owner: user })
    const shared = await makeServer(world, { node })
    await makeSubuser(world, shared, user, [])
    await makeServer(world, { node })
    expect((await change('correct zebra')).status).toBe(204)
    expect(daemonCalls()).toEqual([
      ['POST /api/deauthorize-user', { user: user.uuid, servers: [own.uuid, shared.uuid] }],
    ])
    world.clock.advance(3600)
    await world.runJobs()
    expect(daemonCalls()).toHaveLength(1)
  })

  it('are revoked on every node for an administrator', async () => {
    await world.database.db.update(users).set({ rootAdmin: true }).where(eq(users.id, user.id))
    const server = await makeServer(world, { node: await makeNode(world, { daemonListen: daemon.port }) })
    expect((await change('correct zebra')).status).toBe(204)
    expect(daemonCalls()).toEqual([
      ['POST /api/deauthorize-user', { user: user.uuid, servers: [server.uuid] }],
    ])
  })

  it('are revoked when an unreachable node is back', async () => {
    await makeServer(world, { owner: user, node: await makeNode(world, { daemonListen: daemon.port }) })
    daemon.respond({ status: 500, json: { error: 'broken' } })
    expect((await change('correct zebra')).status).toBe(204)
    daemon.respond(null)
    daemon.calls.length = 0
    world.clock.advance(60)
    await world.runJobs()
    expect(daemonCalls()).toMatchObject([['POST /api/deauthorize-user', { user: user.uuid }]])
    const waiting = (await world.database.db.select().from(jobs)).filter(({ state }) => state === 'waiting')
    expect(waiting).toEqual([])
  })

  it('are kept when the password was wrong', async () => {
    await makeServer(world, { owner: user, node: await makeNode(world, { daemonListen: daemon.port }) })
    expect((await change('correct zebra', 'wrong horse')).status).toBe(400)
    expect(daemonCalls()).toEqual([])
    expect(await world.database.db.select().from(jobs)).toEqual([])
  })
})
