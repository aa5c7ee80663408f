import { beforeEach, describe, expect, it } from 'vitest'
import { activity, jobs, sessions, throttles, users } from '../../src/db/schema.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { maxPasswordChecks, verifyPassword, withPasswordCheck } from '../../src/domain/auth/password-hash.ts'
import { makeUser } from '../support/factories.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
const password = ' correct horse '
const form = { username: 'Mara.K', email: 'Mara@example.test', password, password_confirmation: password }
let browser: Browser

beforeEach(async () => {
  await changeSettings(world.panel, { sign_in: { registration: true } })
  await world.database.db.delete(activity)
  browser = await openBrowser(world)
})

const register = (changes: object = {}, as = browser, options = {}) =>
  as.request('POST', '/auth/register', { ...form, ...changes }, options)
const accounts = () => world.database.db.select().from(users)
const rules = ({ body }: { body: any }) =>
  body.errors.map(({ meta }: any) => `${meta.source_field} ${meta.rule}`)

describe('registering', () => {
  it('gets 503 while a process has as many passwords to hash as it takes, and is not counted', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const waiting = Array.from({ length: maxPasswordChecks }, () => withPasswordCheck(() => opened))
    const link = { email: form.email, token: 'x'.repeat(43), password, password_confirmation: password }
    try {
      for (const { status, headers, body } of [
        await register(),
        await browser.request('POST', '/auth/password/reset', link),
      ]) {
        expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '5' })
        expect(body.errors).toMatchObject([{ code: 'ServiceOverloadedException' }])
      }
      expect(await world.database.db.select().from(throttles)).toEqual([])
    } finally {
      open()
      await Promise.all(waiting)
    }
    expect((await register()).status).toBe(200)
  })

  it('makes an account, signs in to a new session, and welcomes by mail', async () => {
    const before = browser.cookies.get('roost_session')
    const { status, body } = await register()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      data: {
        complete: true,
        intended: '/',
        user: { username: 'mara.k', email: 'Mara@example.test', root_admin: false, language: 'en' },
      },
    })
    expect(browser.cookies.get('roost_session')).not.toBe(before)
    expect((await browser.request('GET', '/api/client/account')).body.attributes.username).toBe('mara.k')
    const [account] = await accounts()
    expect(await verifyPassword(password, account?.passwordHash ?? null)).toBe(true)
    expect(await world.events()).toEqual(['user:account.registered', 'auth:success'])
    expect(JSON.stringify(await world.database.db.select().from(jobs))).not.toMatch(/Mara|horse/)
    await world.runJobs()
    const [mail, ...more] = await world.mails()
    expect(more).toEqual([])
    expect(mail).toMatchObject({ to: 'Mara@example.test', subject: 'Welcome to Roost' })
    expect(mail?.text).toContain('mara.k')
    expect(mail?.text).toContain(`${panelUrl}/\n`)
  })

  it('remembers the language of the browser, and writes in it', async () => {
    await register({}, browser, { headers: { 'accept-language': 'pt;q=0.9, xx' } })
    expect((await accounts())[0]?.language).toBe('pt-BR')
    await world.runJobs()
    expect((await world.mails())[0]?.subject).toBe('Boas-vindas a Roost')
  })

  it.each([
    [{ username: 'mara k' }, ['username p_username']],
    [{ username: '.mara' }, ['username p_username']],
    [{ username: 'x'.repeat(192) }, ['username between']],
    [{ username: null, email: null }, ['username required', 'email required']],
    [{ email: 'mara' }, ['email email']],
    [{ email: 'mara@example.test\r\nBcc: x@example.test' }, ['email email']],
    [{ password: 'short', password_confirmation: 'short' }, ['password min']],
    [{ password_confirmation: 'another one' }, ['password confirmed']],
    [{ password_confirmation: undefined }, ['password confirmed']],
    [{ password: 'x'.repeat(1025), password_confirmation: 'x'.repeat(1025) }, ['password max']],
  ])('is refused by its rules: %j', async (changes, expected) => {
    const answer = await register(changes)
    expect([answer.status, rules(answer)]).toEqual([422, expected])
    expect(await accounts()).toEqual([])
  })

  it('gives no rights that are asked for', async () => {
    expect((await register({ root_admin: true, id: 7, external_id: 'x' })).status).toBe(200)
    expect((await accounts())[0]).toMatchObject({ rootAdmin: false, externalId: null })
  })

  it('refuses names and addresses that are taken, in any case', async () => {
    await makeUser(world, { username: 'mara.k', email: 'other@example.test' })
    expect(rules(await register())).toEqual(['username unique'])
    expect(rules(await register({ username: 'other', email: 'OTHER@example.test' }))).toEqual([
      'email unique',
    ])
    expect(await accounts()).toHaveLength(1)
    expect(await world.database.db.select().from(sessions)).toEqual([])
    expect(await world.database.db.select().from(jobs)).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('makes one account of ten that want the same name at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => register({ email: `mara${index}@example.test` })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(9)
    expect(await accounts()).toHaveLength(1)
    expect(await world.database.db.select().from(sessions)).toHaveLength(1)
  })

  it('is bounded for each network, also for many at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, index) =>
        register({ username: `mara${index}`, email: `mara${index}@example.test` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4)
    expect(Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(
      3500,
    )
    const elsewhere = await openBrowser(world, { ip: '198.51.100.77' })
    expect((await register({}, elsewhere)).status).toBe(200)
    world.clock.advance(3601)
    const again = await openBrowser(world)
    expect((await register({ username: 'later', email: 'later@example.test' }, again)).status).toBe(200)
  })

  it('is closed unless an administrator opened it, and while passwords are off', async () => {
    for (const sign_in of [{ registration: false }, { registration: true, password: false }]) {
      await changeSettings(world.panel, { sign_in })
      const { status, body } = await register()
      expect([status, body.errors[0].code]).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(await accounts()).toEqual([])
  })

  it('needs the captcha where one is set', async () => {
    await changeSettings(world.panel, {
      captcha: { provider: 'turnstile', site_key: 'key', secret: 'secret' },
    })
    const checked: unknown[] = []
    Object.assign(world.services, {
      captcha: {
        isSolved: async (_provider: string, { response }: { response: string }) => {
          checked.push(response)
          return response === 'solved'
        },
      },
    })
    expect((await register()).status).toBe(400)
    expect((await register({ 'g-recaptcha-response': 'wrong' })).body.errors[0].code).toBe('HttpException')
    expect((await register({ 'g-recaptcha-response': 'solved' })).status).toBe(200)
    expect(checked).toEqual(['wrong', 'solved'])
  })

  it('is for guests with our pages alone', async () => {
    expect((await register({}, browser, { headers: { origin: 'https://evil.test' } })).status).toBe(419)
    expect((await register()).status).toBe(200)
    expect((await register({ username: 'second', email: 'second@example.test' })).status).toBe(302)
    expect(await accounts()).toHaveLength(1)
  })
})
