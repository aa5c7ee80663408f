import { like } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { throttles } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { createPasswordReset } from '../../src/domain/auth/password-reset-tokens.ts'
import { importKeyRing } from '../../src/domain/secrets.ts'
import type { Answer } from '../support/answers.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'
import { giveAuthenticator, origin, setPanelUrl, signInWith } from './passkey-fixtures.ts'

const world = useWorld()
let user: User
let networks = 0

beforeEach(async () => {
  networks = 0
  user = await makeUser(world, {
    username: 'mara',
    email: 'Mara@example.test',
    passwordHash: known.passwordHash,
  })
})

/** Returns an address in a network that made no attempt in this test yet. */
const newNetwork = () => {
  networks += 1
  return `198.51.${100 + Math.floor(networks / 250)}.${(networks % 250) + 1}`
}

const login = (browser: Browser, more: object = {}) =>
  browser.request('POST', '/auth/login', { user: 'mara', password: known.password, ...more })

/** Signs in in a browser that the account does not know, from a network of its own. */
const loginInUnknownBrowser = async (more: object = {}): Promise<Answer> =>
  login(await openBrowser(world, { ip: newNetwork() }), more)

/** Sends wrong passwords, four from each network; returns their statuses. */
async function guess(times: number, name: (at: number) => string = () => 'mara'): Promise<number[]> {
  const statuses: number[] = []
  let browser: Browser | null = null
  for (let at = 0; at < times; at += 1) {
    if (at % 4 === 0) browser = await openBrowser(world, { ip: newNetwork() })
    statuses.push((await login(browser!, { user: name(at), password: 'wrong' })).status)
  }
  return statuses
}

const waitOf = ({ status, headers }: Answer) => [status, Number(headers.get('retry-after'))]
const hitsOf = async (kind: string) =>
  (
    await world.database.db
      .select()
      .from(throttles)
      .where(like(throttles.key, `${kind}:%`))
  ).map(({ hits }) => hits)

describe('AU-8: the login limiter counts accounts, not spellings', () => {
  it('counts user name and e-mail address, in any case, as one from one network', async () => {
    const browser = await openBrowser(world, { ip: newNetwork() })
    for (const name of ['mara', 'MARA', 'mara@example.test', 'MARA@EXAMPLE.TEST', 'Mara']) {
      expect((await login(browser, { user: name, password: 'wrong' })).status).toBe(400)
    }
    for (const name of ['mara', 'Mara@Example.Test', 'mArA']) {
      expect((await login(browser, { user: name })).status).toBe(429)
    }
    expect(await hitsOf('login')).toEqual([8])
  })

  it('counts them as one from all networks', async () => {
    const spellings = ['mara', 'MARA', 'mara@example.test', 'Mara@EXAMPLE.test']
    expect(await guess(21, (at) => spellings[at % 4] ?? '')).toEqual(Array(21).fill(400))
    for (const name of spellings) expect((await loginInUnknownBrowser({ user: name })).status).toBe(429)
    expect(await hitsOf('login-account')).toEqual([21])
  })

  it('counts a name without an account by itself, and answers alike', async () => {
    expect(await guess(21, (at) => (at % 2 ? 'No-One' : 'no-one'))).toEqual(Array(21).fill(400))
    const unknown = await loginInUnknownBrowser({ user: 'no-one' })
    expect((await loginInUnknownBrowser()).status).toBe(200)
    await guess(21)
    const existing = await loginInUnknownBrowser()
    expect(existing.body).toEqual(unknown.body)
    expect([waitOf(existing), waitOf(unknown)]).toEqual([
      [429, 2],
      [429, 2],
    ])
  })
})

describe('AU-8: unknown browsers wait at most two minutes at a time', () => {
  it('waits grow, and 101 wrong passwords from 21 addresses lock the name for no longer', async () => {
    expect(await guess(21)).toEqual(Array(21).fill(400))
    const waits: number[] = []
    for (let at = 0; at < 80; at += 1) {
      const refused = await loginInUnknownBrowser({ password: 'wrong' })
      expect(refused.status).toBe(429)
      const seconds = Number(refused.headers.get('retry-after'))
      waits.push(seconds)
      world.clock.advance(seconds)
      expect((await loginInUnknownBrowser({ password: 'wrong' })).status).toBe(400)
    }
    expect(waits.slice(0, 9)).toEqual([2, 4, 8, 16, 32, 64, 120, 120, 120])
    expect(Math.max(...waits)).toBe(120)
    world.clock.advance(120)
    expect((await loginInUnknownBrowser()).status).toBe(200)
  })

  it('what is refused during a wait neither counts nor makes it longer', async () => {
    await guess(23)
    expect(await hitsOf('login-account')).toEqual([21])
    for (let at = 0; at < 10; at += 1) {
      expect(waitOf(await loginInUnknownBrowser({ password: 'wrong' }))).toEqual([429, 2])
    }
    world.clock.advance(2)
    expect((await loginInUnknownBrowser()).status).toBe(200)
  })

  it('from one network, too: five attempts in two minutes', async () => {
    const browser = await openBrowser(world, { ip: newNetwork() })
    for (let at = 0; at < 5; at += 1) expect((await login(browser, { password: 'x' })).status).toBe(400)
    expect(waitOf(await login(browser))).toEqual([429, 120])
    expect(await hitsOf('login-account')).toEqual([5])
    world.clock.advance(120)
    expect((await login(browser)).status).toBe(200)
  })

  it('holds for many at once: one attempt after each wait', async () => {
    const browsers = await Promise.all(
      Array.from({ length: 40 }, () => openBrowser(world, { ip: newNetwork() })),
    )
    const tryAll = async () => {
      const answers = await Promise.all(browsers.map((browser) => login(browser, { password: 'wrong' })))
      return answers.filter(({ status }) => status === 400).length
    }
    expect(await tryAll()).toBe(21)
    world.clock.advance(2)
    expect(await tryAll()).toBe(1)
  })

  it('right passwords do not count', async () => {
    for (let at = 0; at < 30; at += 1) expect((await loginInUnknownBrowser()).status).toBe(200)
    expect(await hitsOf('login-account')).toEqual([0])
  })

  it('is forgotten after an hour without attempts', async () => {
    await guess(21)
    world.clock.advance(3600)
    expect(await guess(21)).toEqual(Array(21).fill(400))
  })
})

describe('AU-8: the owner is told of an attack', () => {
  it('by one mail a day', async () => {
    await guess(20)
    await world.runJobs()
    expect(await world.mails()).toEqual([])
    await guess(1)
    world.clock.advance(2)
    await guess(1)
    await world.runJobs()
    const subject = 'Many attempts to sign in to your account on Roost'
    expect((await world.mails()).map((mail) => [mail.to, mail.subject])).toEqual([[user.email, subject]])
    world.clock.advance(86_400)
    await guess(21)
    await world.runJobs()
    expect((await world.mails()).map((mail) => mail.subject)).toEqual([subject, subject])
  })

  it('at the same cost as when there is no account', async () => {
    const costOf = async (name: string) => {
      await guess(20, () => name)
      const browser = await openBrowser(world, { ip: newNetwork() })
      world.database.statements.length = 0
      await login(browser, { user: name, password: 'wrong' })
      return [...world.database.statements]
    }
    expect(await costOf('no-one')).toEqual(await costOf('mara'))
    await world.runJobs()
    expect((await world.mails()).map(({ to }) => to)).toEqual([user.email])
  })
})

describe('AU-8: a browser that has signed in to the account before', () => {
  /** Signs in and out, so that only the cookie of the known browser is left. */
  async function openKnownBrowser(ip = newNetwork()): Promise<Browser> {
    const browser = await openBrowser(world, { ip })
    expect((await login(browser)).status).toBe(200)
    expect((await browser.request('POST', '/auth/logout')).status).toBe(204)
    return browser
  }

  it('signs in while unknown browsers wait, also from a network whose attempts are used up', async () => {
    const ip = newNetwork()
    const browser = await openKnownBrowser(ip)
    await guess(21)
    const neighbour = await openBrowser(world, { ip })
    for (let at = 0; at < 60; at += 1) await login(neighbour, { user: `name${at}`, password: 'wrong' })
    expect((await loginInUnknownBrowser()).status).toBe(429)
    // Ends the minute of the request limit, not the quarter of an hour of the network.
    world.clock.advance(60)
    expect((await login(neighbour)).status).toBe(429)
    expect((await login(browser, { user: 'MARA@example.test' })).status).toBe(200)
  })

  it('has ten attempts in a quarter of an hour of its own, of many at once too', async () => {
    const browser = await openKnownBrowser()
    const answers = await Promise.all(Array.from({ length: 14 }, () => login(browser, { password: 'wrong' })))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    expect((await login(browser)).status).toBe(429)
    expect(await hitsOf('login-account')).toEqual([0])
    expect((await loginInUnknownBrowser()).status).toBe(200)
    world.clock.advance(900)
    expect((await login(browser)).status).toBe(200)
  })

  it('is known to its own account only: a cookie of another one, or a forged one, changes nothing', async () => {
    const browser = await openKnownBrowser()
    const cookie = browser.cookies.get('roost_browser') ?? ''
    await makeUser(world, { username: 'nils', passwordHash: known.passwordHash })
    const other = await openBrowser(world, { ip: newNetwork() })
    await login(other, { user: 'nils' })
    await other.request('POST', '/auth/logout')
    await guess(21)
    expect((await login(other)).status).toBe(429)
    const [uuid = '', version, id, expiresAt, ...signature] = cookie.split('.')
    const theirs = (other.cookies.get('roost_browser') ?? '').split('.').slice(4)
    for (const forged of [
      [uuid, version, id, Number(expiresAt) + 1, ...signature],
      [uuid, version, 'A'.repeat(20), expiresAt, ...signature],
      [uuid, version, id, expiresAt, ...theirs],
      [uuid, version, id, expiresAt, signature[0], 'A'.repeat(43)],
      [uuid, version, id, expiresAt, 'nokey', signature[1]],
      [uuid, version, id, expiresAt],
    ]) {
      const forger = await openBrowser(world, { ip: newNetwork() })
      forger.cookies.set('roost_browser', forged.join('.'))
      expect((await login(forger)).status, forged.join('.')).toBe(429)
    }
    expect((await login(browser)).status).toBe(200)
  })

  it('is unknown once its key was removed, and after half a year without signing in', async () => {
    const browser = await openKnownBrowser()
    await guess(21)
    const { keys } = world.services
    const newKeys = await importKeyRing(`new:${Buffer.alloc(32, 9).toString('base64')}`)
    Object.assign(world.services, { keys: newKeys })
    expect((await login(browser)).status).toBe(429)
    Object.assign(world.services, { keys: [...newKeys, ...keys] })
    expect((await login(browser)).status).toBe(200)
    await browser.request('POST', '/auth/logout')
    world.clock.advance(180 * 86_400)
    await guess(21)
    expect((await login(browser)).status).toBe(429)
  })

  it('is unknown once sessions of the account were ended elsewhere, and the browser that ended them is not', async () => {
    for (const end of ['one', 'others'] as const) {
      const lost = await openKnownBrowser()
      const open = await openBrowser(world, { ip: newNetwork() })
      const own = await openBrowser(world, { ip: newNetwork() })
      for (const browser of [open, own]) expect((await login(browser)).status).toBe(200)
      const { body } = await own.request('GET', '/account/security/sessions')
      const other = body.sessions.find((session: { is_current: boolean }) => !session.is_current)
      const path = end === 'one' ? `/account/security/sessions/${other.id}` : '/account/security/sessions'
      expect((await own.request('DELETE', path)).status).toBe(204)
      const account = (browser: Browser) => browser.request('GET', '/api/client/account')
      expect((await account(own)).status).toBe(200)
      expect((await account(open)).status).toBe(401)
      await own.request('POST', '/auth/logout')
      await guess(21)
      expect([(await login(lost)).status, (await login(open)).status]).toEqual([429, 429])
      expect((await login(own)).status).toBe(200)
      world.clock.advance(3600)
    }
  })

  it('stays signed in elsewhere when another session is ended, and is known again with the next page', async () => {
    const [own, kept, ended] = await Promise.all(
      [1, 2, 3].map(() => openBrowser(world, { ip: newNetwork() })),
    )
    for (const browser of [own!, kept!]) expect((await login(browser)).status).toBe(200)
    const before = kept!.cookies.get('roost_browser')
    expect((await login(ended!)).status).toBe(200)
    const { body } = await ended!.request('GET', '/account/security/sessions')
    const { id } = body.sessions.find((session: { is_current: boolean }) => session.is_current)
    expect((await own!.request('DELETE', `/account/security/sessions/${id}`)).status).toBe(204)
    expect((await kept!.request('GET', '/')).status).toBe(200)
    expect(kept!.cookies.get('roost_browser')).not.toBe(before)
    await kept!.request('POST', '/auth/logout')
    await guess(21)
    expect((await login(kept!)).status).toBe(200)
  })

  it('is unknown after a new password, except the browser that chose it', async () => {
    const lost = await openKnownBrowser()
    const own = await openBrowser(world, { ip: newNetwork() })
    await login(own)
    const password = 'another horse battery'
    const change = { current_password: known.password, password, password_confirmation: password }
    expect((await own.request('PUT', '/api/client/account/password', change)).status).toBe(204)
    await own.request('POST', '/auth/logout')
    await guess(21)
    expect((await login(lost, { password })).status).toBe(429)
    expect((await login(own, { password })).status).toBe(200)
  })

  it('is also one in which a mailed link was followed, before the second factor is asked for', async () => {
    await giveSecondFactor(world, user)
    const browser = await openBrowser(world, { ip: newNetwork() })
    const { url } = await createPasswordReset(world.panel, user, 3600)
    const token = new URL(url).pathname.split('/').pop()
    const password = 'another horse battery'
    const input = { token, email: user.email, password, password_confirmation: password }
    expect((await browser.request('POST', '/auth/password/reset', input)).body.send_to_login).toBe(true)
    await guess(21)
    expect((await loginInUnknownBrowser({ password })).status).toBe(429)
    expect((await login(browser, { password })).body.data.complete).toBe(false)
  })
})

describe('AU-8: a passkey', () => {
  beforeEach(() => setPanelUrl(world, origin))

  it('signs in while passwords have to wait', async () => {
    const authenticator = await giveAuthenticator(world, user)
    await guess(21)
    expect((await loginInUnknownBrowser()).status).toBe(429)
    expect((await signInWith(world, authenticator)).answer.status).toBe(200)
  })

  it('has ten attempts from one network in a quarter of an hour of its own', async () => {
    const authenticator = await giveAuthenticator(world, user)
    const wrong = { isUserVerified: false }
    for (let at = 0; at < 10; at += 1) {
      expect((await signInWith(world, authenticator, wrong)).answer.status).toBe(400)
    }
    expect((await signInWith(world, authenticator)).answer.status).toBe(429)
    expect((await loginInUnknownBrowser()).status).toBe(200)
    world.clock.advance(900)
    expect((await signInWith(world, authenticator)).answer.status).toBe(200)
    expect(await hitsOf('login-passkey')).toEqual([])
  })
})
