import { base32 } from 'oslo/encoding'
import { generateHOTP } from 'oslo/otp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activity } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { type EventName, events } from '../../src/domain/activity.ts'
import { issuePasswordReset } from '../../src/domain/password-resets.ts'
import { changeSettings } from '../../src/domain/settings.ts'
import { openAuthenticator } from '../support/authenticator.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { known, makeKey, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { png } from '../support/pictures.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'
import {
  agree,
  comeBack,
  type Issuer,
  makeIdentity,
  placeProviders,
  startIssuer,
  switchOn,
} from './oauth-scene.ts'
import { giveAuthenticator, makePasskey, origin, reachAt, signInWith } from './passkey-scene.ts'

/** What somebody does to his account, and what is tried on it. */
type AccountEvent = Extract<EventName, `auth:${string}` | `user:${string}` | `event:${string}`>
type Entry = { properties: Record<string, unknown>; of?: 'nobody'; by: 'himself' | 'nobody' }

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
  reachAt(world, origin)
  placeProviders(world)
  const { passwordHash } = known
  mara = await makeUser(world, { username: 'mara', email: 'mara@example.test', passwordHash })
  browser = await openSignedInBrowser(world, mara)
})

const account = '/api/client/account'
const guest = () => openBrowser(world)
const login = async (changes: object = {}, as?: Browser) =>
  (as ?? (await guest())).request('POST', '/auth/login', { user: 'mara', password, ...changes })
const himself = (properties: Entry['properties'] = {}): Entry => ({ properties, by: 'himself' })
const stranger = (properties: Entry['properties'] = {}): Entry => ({ properties, by: 'nobody' })

async function passCheckpoint(proof: (factor: Awaited<ReturnType<typeof giveSecondFactor>>) => object) {
  const factor = await giveSecondFactor(world, mara)
  const visitor = await guest()
  const { body } = await login({}, visitor)
  const { confirmation_token } = body.data
  return visitor.request('POST', '/auth/login/checkpoint', { confirmation_token, ...proof(factor) })
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

async function linkIdentity() {
  await switchOn(world, 'oidc', { 'sign_in.oidc_issuer': issuer.url })
  const { body } = await browser.request('POST', '/account/security/oauth/oidc', { current_password })
  return comeBack(browser, await agree(body.redirect))
}

async function addApiKey() {
  const { body } = await browser.request('POST', `${account}/api-keys`, { description: 'bot' })
  return body.attributes.identifier as string
}

/** Everything that can happen to an account: what somebody does, and the entries that tell of it. */
const stories: Record<AccountEvent, () => Promise<Entry[]>> = {
  'auth:ip-blocked': async () => {
    const { token, row } = await makeKey(world, mara, { type: 'account', allowedIps: ['203.0.113.1'] })
    await world.request('GET', account, { token })
    return [himself({ identifier: row.identifier })]
  },
  'auth:success': async () => {
    await login()
    await signInWith(world, await giveAuthenticator(world, mara))
    return [himself({ method: 'password' }), himself({ method: 'passkey' })]
  },
  'auth:fail': async () => {
    await login({ password: 'wrong' })
    await login({ user: 'nobody' })
    await signInWith(world, await giveAuthenticator(world, mara), { rpId: 'evil.test' })
    await passCheckpoint(() => ({ recovery_token: 'wrong' }))
    return [
      stranger({ method: 'password' }),
      { ...stranger({ method: 'password' }), of: 'nobody' },
      stranger({ method: 'passkey' }),
      stranger({ method: 'two-factor' }),
    ]
  },
  'auth:checkpoint': async () => {
    await giveSecondFactor(world, mara)
    await login()
    return [stranger({ method: 'password' })]
  },
  'auth:token': async () => {
    const factor = await giveSecondFactor(world, mara)
    const visitor = await guest()
    const { body } = await login({}, visitor)
    const proof = { ...body.data, authentication_code: await factor.code() }
    await visitor.request('POST', '/auth/login/checkpoint', proof)
    return [stranger()]
  },
  'auth:recovery-token': async () => {
    await passCheckpoint(({ tokens }) => ({ recovery_token: tokens[0] }))
    return [stranger()]
  },
  'auth:reset-password': async () => {
    const { url } = await issuePasswordReset(world.panel, mara, 60)
    const token = new URL(url).pathname.split('/').at(-1)
    const visitor = await guest()
    await visitor.request('POST', '/auth/password/reset', { token, email: mara.email, ...next })
    return [himself()]
  },
  'event:password-reset': async () => {
    await (await guest()).request('POST', '/auth/password', { email: mara.email })
    const elsewhere = await openBrowser(world, { ip: '198.51.100.1' })
    await elsewhere.request('POST', '/auth/password', { email: 'nobody@example.test' })
    return [stranger(), { ...stranger(), of: 'nobody' }]
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
    return [stranger({ method: 'password' })]
  },
  'user:account.registered': async () => {
    await world.database.db.delete(activity)
    await changeSettings(world.panel, { sign_in: { registration: true } })
    await (
      await guest()
    ).request('POST', '/auth/register', { username: 'nils', email: 'nils@example.test', ...next })
    mara = { ...mara, id: mara.id + 1 }
    return [himself()]
  },
  'user:account.email-changed': async () => {
    await browser.request('PUT', `${account}/email`, { email: 'new@example.test', password })
    return [himself({ old: 'mara@example.test', new: 'new@example.test' })]
  },
  'user:account.password-changed': async () => {
    await browser.request('PUT', `${account}/password`, { current_password, ...next })
    return [himself()]
  },
  'user:account.avatar-updated': async () => {
    await choosePicture()
    return [himself()]
  },
  'user:account.avatar-removed': async () => {
    await choosePicture()
    await browser.request('DELETE', `${account}/avatar`)
    return [himself()]
  },
  'user:account.privacy-updated': async () => {
    await browser.request('PUT', `${account}/privacy`, { blur_sensitive_data: true })
    return [himself({ blur_sensitive_data: true })]
  },
  'user:two-factor.create': async () => {
    const { secret } = (await browser.request('GET', `${account}/two-factor`)).body.data
    const step = Math.floor(world.clock.now.getTime() / 30_000)
    const code = await generateHOTP(base32.decode(secret), step)
    await browser.request('POST', `${account}/two-factor`, { code, password })
    return [himself()]
  },
  'user:two-factor.delete': async () => {
    await giveSecondFactor(world, mara)
    await browser.request('POST', `${account}/two-factor/disable`, { password })
    return [himself()]
  },
  'user:two-factor.regenerate-tokens': async () => {
    await giveSecondFactor(world, mara)
    await browser.request('POST', `${account}/two-factor/regenerate-tokens`, { password })
    return [himself()]
  },
  'user:ssh-key.create': async () => [himself({ fingerprint: await addSshKey() })],
  'user:ssh-key.delete': async () => {
    const fingerprint = await addSshKey()
    await browser.request('POST', `${account}/ssh-keys/remove`, { fingerprint })
    return [himself({ fingerprint })]
  },
  'user:passkey.create': async () => {
    await makePasskey(browser, openAuthenticator(origin), {}, 'Phone')
    return [himself({ name: 'Phone' })]
  },
  'user:passkey.delete': async () => {
    await makePasskey(browser, openAuthenticator(origin), {}, 'Phone')
    await browser.request('DELETE', '/account/security/passkeys/1', { current_password })
    return [himself({ name: 'Phone' })]
  },
  'user:identity.create': async () => {
    await linkIdentity()
    return [himself({ provider: 'oidc' })]
  },
  'user:identity.delete': async () => {
    await makeIdentity(world, mara, { provider: 'github', issuer: 'https://github.com' })
    await browser.request('DELETE', '/account/security/oauth/1', { current_password })
    return [himself({ provider: 'github' })]
  },
  'user:session.delete': async () => {
    await openSignedInBrowser(world, mara)
    await browser.request('DELETE', '/account/security/sessions')
    return [himself()]
  },
  'user:api-key.create': async () => [himself({ identifier: await addApiKey() })],
  'user:api-key.delete': async () => {
    const identifier = await addApiKey()
    await browser.request('DELETE', `${account}/api-keys/${identifier}`)
    return [himself({ identifier })]
  },
}

describe('the audit log of an account', () => {
  it.each(Object.entries(stories) as [AccountEvent, () => Promise<Entry[]>][])(
    'tells of %s',
    async (event, happen) => {
      const entries = await happen()
      const rows = await world.database.db.select().from(activity).orderBy(activity.id)
      const told = rows.filter((row) => row.event === event)
      expect(told).toMatchObject(
        entries.map(({ of, by }) => ({
          userId: of === 'nobody' ? null : mara.id,
          actorId: by === 'nobody' ? null : mara.id,
          ip:
            event === 'auth:sftp.fail'
              ? '198.51.100.7'
              : expect.stringMatching(/^(192\.0\.2|198\.51\.100)\.1$/),
          timestamp: world.clock.now,
        })),
      )
      expect(told.map(({ properties }) => properties)).toEqual(entries.map(({ properties }) => properties))
      for (const { properties } of told) {
        expect(events[event], event).toEqual(expect.arrayContaining(Object.keys(properties)))
      }
    },
  )
})
