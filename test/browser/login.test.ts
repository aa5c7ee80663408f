import { hash } from 'bcryptjs'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { sessions, users } from '../../src/db/schema.ts'
import { hashPassword } from '../../src/domain/auth/password-hash.ts'
import { makeServer, makeUser } from '../support/factories.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { cheapPasswords, useWorld } from '../support/world.ts'

const world = useWorld()
const password = 'correct horse battery'
let user: Awaited<ReturnType<typeof makeUser>>
let browser: Browser

beforeEach(async () => {
  user = await makeUser(world, {
    username: 'mara',
    email: 'Mara@example.test',
    passwordHash: await hashPassword(password, cheapPasswords),
  })
  browser = await openBrowser(world)
})

const login = (body: object = { user: 'mara', password }, as = browser) =>
  as.request('POST', '/auth/login', body)
const rows = () => world.database.db.select().from(sessions)

describe('signing in', () => {
  it('AU-5: opens a new session, by name or address in any case', async () => {
    for (const name of ['mara', 'MARA', 'mara@EXAMPLE.test']) {
      const own = await openBrowser(world)
      const before = own.cookies.get('roost_session')
      const { status, body } = await login({ user: name, password }, own)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        data: { complete: true, intended: '/', user: { uuid: user.uuid, use_totp: false } },
      })
      expect(own.cookies.get('roost_session')).not.toBe(before)
      expect((await own.request('GET', '/api/client/account')).body.attributes.username).toBe('mara')
    }
    expect(JSON.stringify(await rows())).not.toContain(browser.cookies.get('roost_session'))
    expect(await world.events()).toEqual(['auth:success', 'auth:success', 'auth:success'])
  })

  it('AU-1: gives the same response for every other reason', async () => {
    const wrong = await login({ user: 'mara', password: 'x' })
    const unknown = await login({ user: 'unknown', password: 'x' })
    expect([wrong.status, wrong.body.errors[0].code]).toEqual([400, 'DisplayException'])
    expect(unknown.body).toEqual(wrong.body)
    const names = (answer: typeof wrong) => [...answer.headers.keys()].toSorted((a, b) => a.localeCompare(b))
    expect(names(unknown)).toEqual(names(wrong))
    expect(await world.events()).toEqual(['auth:fail', 'auth:fail'])
  })

  it('AU-8: is bounded by name and network, known or not, also for many at once', async () => {
    for (const name of ['mara', 'unknown']) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => login({ user: name, password: 'x' })),
      )
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(5)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(7)
    }
    expect((await login()).status).toBe(429)
    const elsewhere = await openBrowser(world, { ip: '198.51.100.77' })
    expect((await login(undefined, elsewhere)).status).toBe(200)
    world.clock.advance(301)
    expect((await login()).status).toBe(200)
  })

  it('AU-14: takes imported hashes and makes them new', async () => {
    const passwordHash = (await hash(password, 4)).replace('$2b$', '$2y$')
    await world.database.db.update(users).set({ passwordHash }).where(eq(users.id, user.id))
    expect((await login({ user: 'mara', password: `${password}x` })).status).toBe(400)
    expect((await login()).status).toBe(200)
    const [after] = await world.database.db.select().from(users).where(eq(users.id, user.id))
    expect(after?.passwordHash).toMatch(/^scrypt\$/)
  })
})

describe('a session', () => {
  it('AU-7: changes nothing for foreign pages', async () => {
    await login()
    const put = (headers: Record<string, string>) =>
      browser.request('PUT', '/api/client/account/language', { language: 'de' }, { headers })
    expect((await put({ origin: 'https://evil.test' })).status).toBe(419)
    expect((await put({ 'x-xsrf-token': 'x' })).status).toBe(419)
    expect((await put({ origin: 'null' })).status).toBe(419)
    expect((await put({})).status).toBe(200)
  })

  it('ends with a sign-out, after half a day without use, and with a new password elsewhere', async () => {
    await login()
    const other = await openBrowser(world)
    await login(undefined, other)
    const account = (as: Browser) => as.request('GET', '/api/client/account')
    const change = {
      current_password: password,
      password: 'another one',
      password_confirmation: 'another one',
    }
    expect((await browser.request('PUT', '/api/client/account/password', change)).status).toBe(204)
    expect((await account(browser)).status).toBe(200)
    expect((await account(other)).status).toBe(401)
    world.clock.advance(700 * 60)
    expect((await account(browser)).status).toBe(200)
    world.clock.advance(700 * 60)
    expect((await account(browser)).status).toBe(200)
    world.clock.advance(721 * 60)
    expect((await account(browser)).status).toBe(401)
    await login({ user: 'mara', password: 'another one' })
    expect((await browser.request('POST', '/auth/logout')).status).toBe(204)
    expect((await account(browser)).status).toBe(401)
    expect((await browser.request('POST', '/auth/logout')).status).toBe(401)
  })

  it('reaches servers as a key does', async () => {
    const server = await makeServer(world, { owner: user })
    const foreign = await makeServer(world)
    await login()
    expect((await browser.request('GET', `/api/client/servers/${server.uuid}`)).status).toBe(200)
    expect((await browser.request('GET', `/api/client/servers/${foreign.uuid}`)).status).toBe(404)
    expect((await browser.request('GET', '/api/application/servers')).status).toBe(403)
  })
})
