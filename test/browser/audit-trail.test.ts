import { base32 } from 'oslo/encoding'
import { generateHOTP } from 'oslo/otp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activity } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { type EventName, activityEvents } from '../../src/domain/activity/events.ts'
import { createPasswordReset } from '../../src/domain/auth/password-reset-tokens.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openAuthenticator } from '../support/authenticator.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { known, makeKey, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { emailTokens } from '../support/mailed-links.ts'
import { png } from '../support/pictures.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'
import {
  approve,
  followCallback,
  type Issuer,
  makeIdentity,
  setProviderEndpoints,
  startIssuer,
  enableProvider,
} from './oauth-fixtures.ts'
import { giveAuthenticator, makePasskey, origin, setPanelUrl, signInWith } from './passkey-fixtures.ts'

/** The events of an account: actions of its user, and attempts on it. */
type AccountEvent = Exclude<
  Extract<EventName, `auth:${string}` | `user:${string}` | `event:${string}`>,
  // What another account does to it: test/client/account-email.test.ts.
  'user:account.email-released'
>
type Entry = { properties: Record<string, unknown>; of?: 'unknown'; by: 'user' | 'guest' }

const world = useWorld()
const { password } = known
const current_password = password
const next = { password: 'another one', password_confirmation: 'another one' }
let issuer: Issuer
let mara: User
let browser: Browser

beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(async () => issuer.server.stop())
beforeEach(async () => {
  setPanelUrl(world, origin)
  setProviderEndpoints(world)
  const { passwordHash } = known
  mara = await makeUser(world, { username: 'mara', email: 'mara@example.test', passwordHash })
  browser = await openSignedInBrowser(world, mara)
})

const account = '/api/client/account'
const guest = () => openBrowser(world)
const login = async (changes: object = {}, as?: Browser) =>
  (as ?? (await guest())).request('POST', '/auth/login', { user: 'mara', password, ...changes })
const byUser = (properties: Entry['properties'] = {}): Entry => ({ properties, by: 'user' })
const byGuest = (properties: Entry['properties'] = {}): Entry => ({ properties, by: 'guest' })

async function passCheckpoint(proof: (factor: Awaited<ReturnType<typeof giveSecondFactor>>) => object) {
  const factor = await giveSecondFactor(world, mara)
  const browser = await guest()
  const { body } = await login({}, browser)
  const { confirmation_token } = body.data
  return browser.request('POST', '/auth/login/checkpoint', { confirmation_token, ...proof(factor) })
}

async function choosePicture() {
  const form = new FormData()
  form.set('avatar', new File([Uint8Array.from(png(1, 1))], 'me.png', { type: 'image/png' }))
  const whole = new Response(form)
  const { token } = await makeKey(world, mara, { type: 'account' })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': String(whole.headers.get('content-type')),
  }
  const body = await whole.arrayBuffer()
  return world.app.request(`${origin}${account}/avatar`, { method: 'POST', headers, body })
}

async function addSshKey() {
  const public_key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL0Wm2wPeN9nL5wD1a8tJ0RKY1CC5Lqk7Fvj3F2u6PqY'
  const { body } = await browser.request('POST', `${account}/ssh-keys`, { name: 'Laptop', public_key })
  return body.attributes.fingerprint as string
}

/** Requests another address, which has to be verified. */
async function requestEmail() {
  await changeSettings(world.panel, { sign_in: { verify_email: 'on' } })
  await browser.request('PUT', `${account}/email`, { email: 'new@example.test', password })
}

async function linkIdentity() {
  await enableProvider(world, 'oidc', { 'sign_in.oidc_issuer': issuer.url })
  const { body } = await browser.request('POST', '/account/security/oauth/oidc', { current_password })
  return followCallback(browser, await approve(body.redirect))
}

async function addApiKey() {
  const { body } = await browser.request('POST', `${account}/api-keys`, { description: 'bot' })
  return body.attributes.identifier as string
}

/** Lists for each event of an account what causes it, and the entries it must record. */
const stories: Record<AccountEvent, () => Promise<Entry[]>> = {
  'auth:ip-blocked': async () => {
    const { token, row } = await makeKey(world, mara, { type: 'account', allowedIps: ['203.0.113.1'] })
    await world.request('GET', account, { token })
    return [byUser({ identifier: row.identifier })]
  },
  'auth:success': async () => {
    await login()
    await signInWith(world, await giveAuthenticator(world, mara))
    return [byUser({ method: 'password' }), byUser({ method: 'passkey' })]
  },
  'auth:fail': async () => {
    await login({ password: 'wrong' })
    await login({ user: 'unknown' })
    await signInWith(world, await giveAuthenticator(world, mara), { rpId: 'evil.test' })
    await passCheckpoint(() => ({ recovery_token: 'wrong' }))
    return [
      byGuest({ method: 'password' }),
      { ...byGuest({ method: 'password' }), of: 'unknown' },
      byGuest({ method: 'passkey' }),
      byGuest({ method: 'two-factor' }),
    ]
  },
  'auth:checkpoint': async () => {
    await giveSecondFactor(world, mara)
    await login()
    return [byGuest({ method: 'password' })]
  },
  'auth:token': async () => {
    const factor = await giveSecondFactor(world, mara)
    const browser = await guest()
    const { body } = await login({}, browser)
    const proof = { ...body.data, authentication_code: await factor.code() }
    await browser.request('POST', '/auth/login/checkpoint', proof)
    return [byGuest()]
  },
  'auth:recovery-token': async () => {
    await passCheckpoint(({ tokens }) => ({ recovery_token: tokens[0] }))
    return [byGuest()]
  },
  'auth:reset-password': async () => {
    const { url } = await createPasswordReset(world.panel, mara, 60)
    const token = new URL(url).pathname.split('/').at(-1)
    const browser = await guest()
    await browser.request('POST', '/auth/password/reset', { token, email: mara.email, ...next })
    return [byUser()]
  },
  'event:password-reset': async () => {
    await (await guest()).request('POST', '/auth/password', { email: mara.email })
    const elsewhere = await openBrowser(world, { ip: '198.51.100.1' })
    await elsewhere.request('POST', '/auth/password', { email: 'unknown@example.test' })
    return [byGuest(), { ...byGuest(), of: 'unknown' }]
  },
  'auth:sftp.fail': async () => {
    const node = await makeNode(world)
    const { uuidShort } = await makeServer(world, { node, owner: mara })
    const attempt = {
      type: 'password',
      username: `mara.${uuidShort}`,
      password: 'wrong',
      ip: '198.51.100.7:1',
    }
    const body = { ...attempt, session_id: 'c2Vzc2lvbg==', client_version: 'U1NI' }
    await world.request('POST', '/api/remote/sftp/auth', { token: node.token, body })
    return [byGuest({ method: 'password' })]
  },
  'user:account.registered': async () => {
    await world.database.db.delete(activity)
    await changeSettings(world.panel, { sign_in: { registration: true } })
    await (
      await guest()
    ).request('POST', '/auth/register', { username: 'nils', email: 'nils@example.test', ...next })
    mara = { ...mara, id: mara.id + 1 }
    return [byUser()]
  },
  'user:account.email-changed': async () => {
    await browser.request('PUT', `${account}/email`, { email: 'new@example.test', password })
    return [byUser({ old: 'mara@example.test', new: 'new@example.test' })]
  },
  'user:account.email-change-requested': async () => {
    await requestEmail()
    return [byUser({ new: 'new@example.test' })]
  },
  'user:account.email-change-cancelled': async () => {
    await requestEmail()
    await browser.request('DELETE', `${account}/email/pending`)
    return [byUser({ new: 'new@example.test' })]
  },
  'user:account.email-verified': async () => {
    await requestEmail()
    const [token] = await emailTokens(world, 'new@example.test')
    await browser.request('POST', `${account}/email/verify`, { token })
    return [byUser({ email: 'new@example.test' })]
  },
  'user:account.password-changed': async () => {
    await browser.request('PUT', `${account}/password`, { current_password, ...next })
    return [byUser()]
  },
  'user:account.avatar-updated': async () => {
    await choosePicture()
    return [byUser()]
  },
  'user:account.avatar-removed': async () => {
    await choosePicture()
    await browser.request('DELETE', `${account}/avatar`)
    return [byUser()]
  },
  'user:account.privacy-updated': async () => {
    await browser.request('PUT', `${account}/privacy`, { blur_sensitive_data: true })
    return [byUser({ blur_sensitive_data: true })]
  },
  'user:account.notifications-updated': async () => {
    const mail = { 'backup.completed': true, 'backup.failed': true }
    await browser.request('PUT', `${account}/notifications/mail`, { mail })
    await browser.request('PUT', `${account}/notifications/mail`, { mail })
    return [byUser({ changed: ['backup.completed', 'backup.failed'] })]
  },
  'user:two-factor.create': async () => {
    const { secret } = (await browser.request('GET', `${account}/two-factor`)).body.data
    const step = Math.floor(world.clock.now.getTime() / 30_000)
    const code = await generateHOTP(base32.decode(secret), step)
    await browser.request('POST', `${account}/two-factor`, { code, password })
    return [byUser()]
  },
  'user:two-factor.delete': async () => {
    await giveSecondFactor(world, mara)
    await browser.request('POST', `${account}/two-factor/disable`, { password })
    return [byUser()]
  },
  'user:two-factor.regenerate-tokens': async () => {
    await giveSecondFactor(world, mara)
    await browser.request('POST', `${account}/two-factor/regenerate-tokens`, { password })
    return [byUser()]
  },
  'user:ssh-key.create': async () => [byUser({ fingerprint: await addSshKey() })],
  'user:ssh-key.delete': async () => {
    const fingerprint = await addSshKey()
    await browser.request('POST', `${account}/ssh-keys/remove`, { fingerprint })
    return [byUser({ fingerprint })]
  },
  'user:passkey.create': async () => {
    await makePasskey(browser, openAuthenticator(origin), {}, 'Phone')
    return [byUser({ name: 'Phone' })]
  },
  'user:passkey.delete': async () => {
    await makePasskey(browser, openAuthenticator(origin), {}, 'Phone')
    await browser.request('DELETE', '/account/security/passkeys/1', { current_password })
    return [byUser({ name: 'Phone' })]
  },
  'user:identity.create': async () => {
    await linkIdentity()
    return [byUser({ provider: 'oidc' })]
  },
  'user:identity.delete': async () => {
    await makeIdentity(world, mara, { provider: 'github', issuer: 'https://github.com' })
    await browser.request('DELETE', '/account/security/oauth/1', { current_password })
    return [byUser({ provider: 'github' })]
  },
  'user:session.delete': async () => {
    await openSignedInBrowser(world, mara)
    await browser.request('DELETE', '/account/security/sessions')
    return [byUser()]
  },
  'user:api-key.create': async () => [byUser({ identifier: await addApiKey() })],
  'user:api-key.delete': async () => {
    const identifier = await addApiKey()
    await browser.request('DELETE', `${account}/api-keys/${identifier}`)
    return [byUser({ identifier })]
  },
}

describe('the audit log of an account', () => {
  it.each(Object.entries(stories) as [AccountEvent, () => Promise<Entry[]>][])(
    'tells of %s',
    async (event, happen) => {
      const entries = await happen()
      const rows = await world.database.db.select().from(activity).orderBy(activity.id)
      const recorded = rows.filter((row) => row.event === event)
      expect(recorded).toMatchObject(
        entries.map(({ of, by }) => ({
          userId: of === 'unknown' ? null : mara.id,
          actorId: by === 'guest' ? null : mara.id,
          ip:
            event === 'auth:sftp.fail'
              ? '198.51.100.7'
              : expect.stringMatching(/^(192\.0\.2|198\.51\.100)\.1$/),
          timestamp: world.clock.now,
        })),
      )
      expect(recorded.map(({ properties }) => properties)).toEqual(
        entries.map(({ properties }) => properties),
      )
      for (const { properties } of recorded) {
        expect(activityEvents[event], event).toEqual(expect.arrayContaining(Object.keys(properties)))
      }
    },
  )
})
