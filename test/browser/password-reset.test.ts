import { eq, like } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activity, jobs, passwordResets, sessions, throttles, users } from '../../src/db/schema.ts'
import { verifyPassword } from '../../src/domain/auth/password-hash.ts'
import { createPasswordReset } from '../../src/domain/auth/password-reset-tokens.ts'
import { digest } from '../../src/domain/secrets.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { known, makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
const next = 'another good one'
let daemon: StubDaemon
let user: Awaited<ReturnType<typeof makeUser>>
let browser: Browser

beforeAll(async () => {
  daemon = await startStubDaemon()
})
afterAll(() => daemon.close())
beforeEach(async () => {
  daemon.respond(null)
  daemon.calls.length = 0
  user = await makeUser(world, { email: 'Mara@example.test', passwordHash: known.passwordHash })
  browser = await openBrowser(world)
})

const forget = (email: unknown = user.email, as = browser) => as.request('POST', '/auth/password', { email })
const reset = (token: unknown, changes: object = {}, as = browser) =>
  as.request('POST', '/auth/password/reset', {
    token,
    email: user.email,
    password: next,
    password_confirmation: next,
    ...changes,
  })
const linkIn = (text = '') => /\/auth\/password\/reset\/([A-Za-z0-9]{43})\?email=(\S+)/.exec(text)
const stored = async () => {
  const [row] = await world.database.db.select().from(users).where(eq(users.id, user.id))
  return row as NonNullable<typeof row>
}
const tokenFor = async (account: { id: number; email: string } = user, seconds = 3600) =>
  linkIn((await createPasswordReset(world.panel, account, seconds)).url)?.[1] ?? ''
const resets = () => world.database.db.select().from(passwordResets)
const statusesOf = (answers: { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other)
const networks = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, index) => openBrowser(world, { ip: `198.51.100.${index + 1}` })),
  )

describe('a forgotten password', () => {
  it('AU-4: brings a mail whose link chooses another one and signs in', async () => {
    const { status, body } = await forget('MARA@example.test')
    expect([status, Object.keys(body), typeof body.status]).toEqual([200, ['status'], 'string'])
    expect(await resets()).toEqual([])
    const before = browser.cookies.get('roost_session')
    await world.runJobs()
    const [mail, ...more] = await world.mails()
    expect([mail?.to, more]).toEqual(['Mara@example.test', []])
    expect(mail?.text).toContain(`${panelUrl}/auth/password/reset/`)
    const [, token = '', address = ''] = linkIn(mail?.text) ?? []
    expect(decodeURIComponent(address)).toBe(user.email)
    expect(await resets()).toMatchObject([{ userId: user.id, tokenHash: digest(token) }])
    const rows = JSON.stringify([
      await world.database.db.select().from(jobs),
      await world.database.db.select().from(activity),
    ])
    expect(rows).not.toContain(token)
    expect(rows).not.toMatch(/mara/i)
    const answer = await reset(token, { email: 'mara@EXAMPLE.test' })
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, redirect_to: '/', send_to_login: false },
    ])
    expect(browser.cookies.get('roost_session')).not.toBe(before)
    expect((await browser.request('GET', '/api/client/account')).status).toBe(200)
    expect(await verifyPassword(next, (await stored()).passwordHash)).toBe(true)
    expect(await world.events()).toEqual(['event:password-reset', 'auth:reset-password', 'auth:success'])
  })

  it('AU-4: gets the same response for an unknown address: status, body, headers, statements, jobs', async () => {
    const seen = []
    for (const address of [user.email, 'unknown@example.test']) {
      const from = await openBrowser(world, { ip: `203.0.113.${seen.length + 1}` })
      const before = (await world.database.db.select().from(jobs)).length
      const messages = world.messages.length
      world.database.statements.length = 0
      const { status, body, headers } = await forget(address, from)
      seen.push({
        status,
        body,
        headers: [...headers].filter(([name]) => name !== 'x-request-id'),
        statements: [...world.database.statements],
        jobs: (await world.database.db.select().from(jobs)).length - before,
        messages: world.messages.length - messages,
      })
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[0]?.statements.length).toBeGreaterThan(3)
    expect(await world.runJobs()).toBe(2)
    expect((await world.mails()).map(({ to }) => to)).toEqual([user.email])
  })

  it('AU-4: sends at most one mail a minute to each account, and always gives the same response', async () => {
    const browsers = await networks(10)
    const answers = await Promise.all(browsers.map((each) => forget(user.email, each)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    await world.runJobs()
    expect(await world.mails()).toHaveLength(1)
    expect(await world.events()).toEqual(['event:password-reset'])
    world.clock.advance(61)
    expect((await forget()).status).toBe(200)
    await world.runJobs()
    expect(await world.mails()).toHaveLength(2)
  })

  it('AU-4: can be told twice a minute from one network, for whatever address', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => forget(index % 2 ? user.email : `x${index}@example.test`)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(8)
    world.clock.advance(61)
    expect((await forget()).status).toBe(200)
  })

  it('brings no second mail while the first one waits for its provider', async () => {
    Object.assign(world.panel, { mail: { send: () => Promise.reject(new Error('away')) } })
    for (let minute = 0; minute < 5; minute += 1) {
      expect((await forget()).status).toBe(200)
      await world.runJobs()
      world.clock.advance(61)
    }
    Object.assign(world.panel, { mail: world.services.mail })
    expect(await resets()).toEqual([])
    world.clock.advance(600)
    await world.runJobs()
    expect(await world.mails()).toHaveLength(1)
    expect(await resets()).toHaveLength(1)
  })

  it('needs an address, and passwords that are not switched off', async () => {
    for (const [email, rule] of [
      [null, 'required'],
      ['mara', 'email'],
      [`${'x'.repeat(190)}@example.test`, 'between'],
    ]) {
      const { status, body } = await forget(email)
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: 'email', rule }])
    }
    await changeSettings(world.panel, { sign_in: { password: false } })
    expect((await forget()).status).toBe(403)
    expect((await reset(await tokenFor())).status).toBe(403)
    expect(await world.database.db.select().from(jobs)).toEqual([])
  })
})

describe('a link to a new password', () => {
  it('is refused in the same words, whatever is wrong with it, and changes nothing', async () => {
    const other = await makeUser(world)
    const token = await tokenFor()
    const answers = [
      await reset('x'),
      await reset(await tokenFor(user, -1)),
      await reset(await tokenFor(other)),
      await reset(token, { email: other.email }),
      await reset(token, { email: 'unknown@example.test' }),
    ]
    const [first] = answers
    expect([first?.status, first?.body.errors[0].code]).toEqual([400, 'DisplayException'])
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([400, first?.body])
      expect([...headers.keys()]).toEqual([...(first?.headers.keys() ?? [])])
    }
    expect((await stored()).passwordHash).toBe(known.passwordHash)
    expect(await resets()).toHaveLength(3)
    expect(await world.events()).toEqual([])
    expect((await reset(token)).status).toBe(200)
  })

  it('AU-4: ends after an hour', async () => {
    await forget()
    await world.runJobs()
    const [, token] = linkIn((await world.mails())[0]?.text) ?? []
    world.clock.advance(3601)
    expect((await reset(token)).status).toBe(400)
  })

  it('AU-4: works once, however many come with it at once', async () => {
    const token = await tokenFor()
    const browsers = await networks(10)
    const answers = await Promise.all(
      browsers.map((each, index) =>
        reset(token, { password: `zebra no. ${index}`, password_confirmation: `zebra no. ${index}` }, each),
      ),
    )
    expect(statusesOf(answers)).toEqual([200, ...Array(9).fill(400)])
    const winner = answers.findIndex(({ status }) => status === 200)
    expect(await verifyPassword(`zebra no. ${winner}`, (await stored()).passwordHash)).toBe(true)
    expect((await stored()).authVersion).toBe(user.authVersion + 1)
    expect(await world.events()).toEqual(['auth:reset-password', 'auth:success'])
    expect(await world.database.db.select().from(sessions)).toHaveLength(1)
  })

  it('and another of the same account work once between them', async () => {
    const tokens = [await tokenFor(), await tokenFor(), await tokenFor()]
    const browsers = await networks(3)
    const answers = await Promise.all(browsers.map((each, index) => reset(tokens[index], {}, each)))
    expect(statusesOf(answers)).toEqual([200, 400, 400])
    expect(await resets()).toEqual([])
  })

  it('meets a change of the password at the same time: one of them wins', async () => {
    const key = await makeClientToken(world, user)
    const token = await tokenFor()
    const body = {
      current_password: known.password,
      password: 'changed it',
      password_confirmation: 'changed it',
    }
    const both = await Promise.all([
      world.request('PUT', '/api/client/account/password', { token: key, body }),
      reset(token),
    ])
    expect(both.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1)
    const right = both[0].status === 204 ? 'changed it' : next
    expect(await verifyPassword(right, (await stored()).passwordHash)).toBe(true)
  })

  it('AU-4: ends the sessions and links of its account, tells its owner and its nodes, and leaves keys alone', async () => {
    const node = await makeNode(world, { daemonListen: daemon.port })
    const server = await makeServer(world, { node, owner: user })
    const key = await makeClientToken(world, user)
    const signedIn = await openBrowser(world)
    await signedIn.request('POST', '/auth/login', { user: user.email, password: known.password })
    expect((await signedIn.request('GET', '/api/client/account')).status).toBe(200)
    const other = await makeUser(world)
    await tokenFor(other)
    await tokenFor()
    expect((await reset(await tokenFor())).status).toBe(200)
    expect((await signedIn.request('GET', '/api/client/account')).status).toBe(401)
    expect((await resets()).map(({ userId }) => userId)).toEqual([other.id])
    expect(daemon.calls.map(({ method, path, body }) => [`${method} ${path}`, body])).toEqual([
      ['POST /api/deauthorize-user', { user: user.uuid, servers: [server.uuid] }],
    ])
    expect((await world.request('GET', '/api/client/account', { token: key })).status).toBe(200)
    await world.runJobs()
    expect((await world.mails()).map(({ to, subject }) => [to, subject])).toEqual([
      [user.email, 'Your password for Roost was changed'],
    ])
  })

  it('leaves its account a new password when the node is away, which a job tells later', async () => {
    await makeServer(world, { owner: user, node: await makeNode(world, { daemonListen: daemon.port }) })
    daemon.respond({ status: 500, json: { error: 'broken' } })
    expect((await reset(await tokenFor())).status).toBe(200)
    daemon.respond(null)
    daemon.calls.length = 0
    world.clock.advance(60)
    await world.runJobs()
    expect(daemon.calls.map(({ path }) => path)).toEqual(['/api/deauthorize-user'])
  })

  it('AU-4: does not sign in an account with a second factor', async () => {
    await world.database.db.update(users).set({ totpEnabledAt: world.clock.now }).where(eq(users.id, user.id))
    const { body } = await reset(await tokenFor())
    expect(body).toEqual({ success: true, redirect_to: '/', send_to_login: true })
    expect(await world.database.db.select().from(sessions)).toEqual([])
    expect((await browser.request('GET', '/api/client/account')).status).toBe(401)
    expect(await stored()).toMatchObject({ totpEnabledAt: world.clock.now })
    expect(await verifyPassword(next, (await stored()).passwordHash)).toBe(true)
    expect(await world.events()).toEqual(['auth:reset-password'])
  })

  it('sets the first password of an invited user', async () => {
    await world.database.db.update(users).set({ passwordHash: null }).where(eq(users.id, user.id))
    expect((await reset(await tokenFor(user, 3 * 86_400))).status).toBe(200)
    expect(await verifyPassword(next, (await stored()).passwordHash)).toBe(true)
  })

  it('AU-4: is tried ten times in a quarter of an hour for each account, from one network', async () => {
    const answers = await Promise.all(Array.from({ length: 13 }, (_, index) => reset(`x${index}`)))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(3)
    const token = await tokenFor()
    expect((await reset(token)).status).toBe(429)
    const [elsewhere] = await networks(1)
    expect((await reset(token, {}, elsewhere)).status).toBe(200)
  })

  it('AU-4: is tried thirty times in a quarter of an hour from one network, for whatever account', async () => {
    const tryAs = async (name: string, ip: string) =>
      (await reset('x', { email: `${name}@example.test` }, await openBrowser(world, { ip }))).status
    expect(await tryAs('one', '2001:db8:0:1::1')).toBe(400)
    await world.database.db
      .update(throttles)
      .set({ hits: 29 })
      .where(like(throttles.key, 'password-reset-network:%'))
    expect(await tryAs('two', '2001:db8:0:1::2')).toBe(400)
    expect(await tryAs('three', '2001:db8:0:1:ffff::3')).toBe(429)
    expect(await tryAs('three', '2001:db8:0:2::1')).toBe(400)
  })

  it.each([
    [{ token: null }, ['token required']],
    [{ token: 'x'.repeat(256) }, ['token max']],
    [{ email: 'x' }, ['email email']],
    [{ password: '1234567', password_confirmation: '1234567' }, ['password min']],
    [{ password_confirmation: 'x' }, ['password confirmed']],
  ])('is not used by a body that does not fit: %j', async (changes, expected) => {
    const token = await tokenFor()
    const { status, body } = await reset(token, changes)
    expect(status).toBe(422)
    expect(body.errors.map(({ meta }: any) => `${meta.source_field} ${meta.rule}`)).toEqual(expected)
    expect(await resets()).toHaveLength(1)
  })
})
