import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpCaptcha } from '../../src/adapters/captcha.ts'
import { testEgress } from '../support/egress.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { type DaemonAnswer, startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { configure, signedInAs } from './oauth-fixtures.ts'

const world = useWorld()
let stub: StubDaemon
let browser: Browser

beforeAll(async () => {
  stub = await startStubDaemon()
})
afterAll(async () => stub.close())

beforeEach(async () => {
  stub.calls.length = 0
  stub.respond({ json: { success: true } })
  placeCaptcha()
  await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
  browser = await openBrowser(world)
})

function placeCaptcha(timeoutMs = 5_000): void {
  const at = (provider: string) => `http://127.0.0.1:${stub.port}/${provider}`
  const urls = { turnstile: at('turnstile'), hcaptcha: at('hcaptcha'), recaptcha: at('recaptcha') }
  Object.assign(world.services, { captcha: httpCaptcha(testEgress.fetch, { urls, timeoutMs }) })
}
const turnOn = (provider: string) =>
  configure(world, {
    'captcha.provider': provider,
    'captcha.site_key': 'the site key',
    'captcha.secret': 'the secret',
  })
const login = (fields: object = {}, user = 'mara') =>
  browser.request('POST', '/auth/login', { user, password: known.password, ...fields })
const refusalOf = async (answer: ReturnType<typeof login>) => {
  const { status, body } = await answer
  return [status, body.errors?.[0]?.code]
}
const unsolved = [400, 'HttpException']

describe('without a captcha', () => {
  it('no response is required, and the provider is not called', async () => {
    expect((await login({ 'g-recaptcha-response': 'x' })).status).toBe(200)
    expect(stub.calls).toEqual([])
  })
})

describe.each(['turnstile', 'hcaptcha', 'recaptcha'])('with %s', (provider) => {
  beforeEach(() => turnOn(provider))

  it('a solved one lets the right password in, and no other', async () => {
    expect((await login({ 'g-recaptcha-response': 'solved' })).status).toBe(200)
    expect(await signedInAs(browser)).toBe('mara')
    const [call] = stub.calls
    expect(`${call?.method} ${call?.path}`).toBe(`POST /${provider}`)
    expect(Object.fromEntries(new URLSearchParams(call?.body))).toEqual({
      secret: 'the secret',
      response: 'solved',
      remoteip: '192.0.2.1',
      ...(provider === 'hcaptcha' ? { sitekey: 'the site key' } : {}),
    })
    const other = await openBrowser(world)
    const body = { user: 'mara', password: 'x', 'g-recaptcha-response': 'solved' }
    expect((await other.request('POST', '/auth/login', body)).body.errors[0].code).toBe('DisplayException')
  })

  it('one that is missing or not solved is refused', async () => {
    for (const response of [undefined, null, '']) {
      expect(await refusalOf(login({ 'g-recaptcha-response': response }))).toEqual(unsolved)
    }
    expect(stub.calls).toEqual([])
    stub.respond({ json: { success: false, 'error-codes': ['timeout-or-duplicate'] } })
    expect(await refusalOf(login({ 'g-recaptcha-response': 'old' }))).toEqual(unsolved)
    expect(await refusalOf(login({ 'g-recaptcha-response': 'old' }, 'unknown'))).toEqual(unsolved)
    expect(await signedInAs(browser)).toBeNull()
    expect(await world.events()).toEqual([])
  })

  it.each<[string, DaemonAnswer]>([
    ['fails', { status: 500, json: { success: true } }],
    ['refuses', { status: 403, json: { success: true } }],
    ['sends elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:1' } }],
    ['hangs', { hang: true }],
    ['hangs up', { text: '{"success":', cut: true }],
    ['says no JSON', { text: '<html>' }],
    ['says nothing', { text: '' }],
    ['says null', { json: null }],
    ['says a list', { json: [{ success: true }] }],
    ['says a word', { json: { success: 'true' } }],
    ['does not know the secret', { json: { success: false, 'error-codes': ['invalid-input-secret'] } }],
    ['never ends', { text: `"${'x'.repeat(400_000)}"` }],
  ])('a provider that %s refuses the sign-in', async (_what, answer) => {
    stub.respond(answer)
    if ('hang' in answer) placeCaptcha(300)
    expect(await refusalOf(login({ 'g-recaptcha-response': 'solved' }))).toEqual([
      503,
      'ServiceUnavailableHttpException',
    ])
    expect(await signedInAs(browser)).toBeNull()
  })
})

describe('the response', () => {
  beforeEach(() => turnOn('turnstile'))

  it.each(['g-recaptcha-response', 'cf-turnstile-response', 'h-captcha-response'])(
    'may be called %s',
    async (name) => {
      expect((await login({ [name]: 'solved' })).status).toBe(200)
      expect(new URLSearchParams(stub.calls[0]?.body).get('response')).toBe('solved')
    },
  )

  it('is text of a bounded length', async () => {
    for (const response of [['solved'], { a: 1 }, 'x'.repeat(8193)]) {
      expect((await login({ 'g-recaptcha-response': response })).status).toBe(422)
    }
    expect(stub.calls).toEqual([])
  })

  it('is asked about no more often than one network may try', async () => {
    stub.respond({ json: { success: false } })
    for (let count = 0; count < 62; count += 1) await login({ 'g-recaptcha-response': 'x' })
    expect(stub.calls).toHaveLength(60)
    expect((await login({ 'g-recaptcha-response': 'x' })).status).toBe(429)
  })

  it('is checked before the attempts for a name: no caller can lock out others without it', async () => {
    stub.respond({ json: { success: false } })
    for (let count = 0; count < 10; count += 1) await login({ 'g-recaptcha-response': 'x' })
    stub.respond({ json: { success: true } })
    expect((await login({ 'g-recaptcha-response': 'solved' })).status).toBe(200)
  })
})
