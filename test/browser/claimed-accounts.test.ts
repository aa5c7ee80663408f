import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { apiKeys, emailVerifications, identities, passkeys, sshKeys, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { addAccountApiKey } from '../../src/domain/auth/api-keys.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { makeApplicationToken, makeClientToken, makeUser, known } from '../support/factories.ts'
import { emailTokens, resetTokens } from '../support/mailed-links.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
const email = 'mara@example.test'
const password = 'correct horse'
const form = { username: 'mara.k', email, password, password_confirmation: password }
let browser: Browser

beforeEach(async () => {
  await changeSettings(world.panel, { sign_in: { registration: true, verify_email: 'on' } })
  browser = await openBrowser(world)
})

const signIn = async (user: string) =>
  (await (await openBrowser(world)).request('POST', '/auth/login', { user, password })).status
const found = async () => {
  const path = `/api/application/users?filter[email]=${email}`
  return (await world.request('GET', path, { token: await makeApplicationToken(world) })).body.data.length
}
const row = async (): Promise<User> => {
  const [user] = await world.database.db.select().from(users).where(eq(users.username, 'mara.k'))
  return user as User
}
const redeem = async (token: unknown, next = 'another good one') =>
  (await openBrowser(world)).request('POST', '/auth/password/reset', {
    token,
    email,
    password: next,
    password_confirmation: next,
  })

describe('an account that was registered while addresses are verified', () => {
  it('is signed in and gets in by its user name; its address only after its link was followed', async () => {
    expect((await browser.request('POST', '/auth/register', form)).body.data.complete).toBe(true)
    expect((await browser.request('GET', '/api/client/account')).body.attributes.email).toBe(email)
    expect([await signIn('mara.k'), await signIn(email), await found()]).toEqual([200, 400, 0])
    const [link, ...more] = await emailTokens(world, email)
    expect([more, (await world.mails()).length]).toEqual([[], 1])
    const page = await browser.request('GET', `/account/verify-email/${link}`)
    expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
    expect((await row()).emailVerifiedAt).toBeNull()
    expect((await browser.request('POST', '/api/client/account/email/verify', { token: link })).status).toBe(
      204,
    )
    expect([await signIn(email), await found()]).toEqual([200, 1])
  })

  it('gets the wrong password and the unverified address refused alike', async () => {
    await browser.request('POST', '/auth/register', form)
    const other = await openBrowser(world)
    const wrong = await other.request('POST', '/auth/login', { user: 'unknown@example.test', password })
    const claimed = await other.request('POST', '/auth/login', { user: email, password })
    expect([claimed.status, claimed.text]).toEqual([wrong.status, wrong.text])
  })

  it('is not verified by the page of the link without the account', async () => {
    await browser.request('POST', '/auth/register', form)
    const [link] = await emailTokens(world, email)
    const guest = await openBrowser(world)
    const page = await world.app.request(`${panelUrl}/account/verify-email/${link}`)
    expect([page.status, page.headers.get('location')]).toEqual([
      302,
      `/auth/login?intended=${encodeURIComponent(`/account/verify-email/${link}`)}`,
    ])
    const body = { token: link }
    expect((await guest.request('POST', '/api/client/account/email/verify', body)).status).toBe(401)
    const victim = await openSignedInBrowser(world, await makeUser(world))
    expect((await victim.request('POST', '/api/client/account/email/verify', body)).status).toBe(400)
    expect((await row()).emailVerifiedAt).toBeNull()
  })
})

describe('a mailed reset of an account that was never verified', () => {
  const forget = () => browser.request('POST', '/auth/password', { email })

  async function registerWithEverything() {
    const claimer = await openBrowser(world)
    await claimer.request('POST', '/auth/register', form)
    const { id: userId } = await row()
    const key = await claimer.request('POST', '/api/client/account/api-keys', { description: 'bot' })
    await world.database.db.insert(sshKeys).values({ userId, name: 'k', fingerprint: 'f', publicKey: 'p' })
    await world.database.db.insert(passkeys).values({
      userId,
      name: 'Phone',
      credentialId: 'c',
      publicKey: 'p',
      counter: 0,
      transports: [],
    })
    const identity = {
      userId,
      provider: 'github',
      issuer: 'https://github.com',
      subject: '7',
      displayName: 'x',
    }
    await world.database.db.insert(identities).values(identity)
    const { attributes, meta } = key.body
    return { claimer, userId, token: attributes.identifier + meta.secret_token }
  }

  it('AU-16: ends its sessions, removes API keys, SSH keys, passkeys and identities, and verifies it', async () => {
    const { claimer, userId, token } = await registerWithEverything()
    await claimer.request('PUT', '/api/client/account/email', { email: 'evil@example.test', password })
    const [evilLink] = await emailTokens(world, 'evil@example.test')
    await forget()
    const [link] = await resetTokens(world, email)
    expect((await redeem(link)).status).toBe(200)
    expect((await claimer.request('GET', '/api/client/account')).status).toBe(401)
    expect((await world.request('GET', '/api/client/account', { token })).status).toBe(401)
    for (const table of [apiKeys, sshKeys, passkeys, identities]) {
      expect(await world.database.db.select().from(table)).toEqual([])
    }
    const user = await row()
    expect(user).toMatchObject({ apiKeyCount: 0, pendingEmail: null, emailVerifiedAt: world.clock.now })
    expect(await world.events()).toEqual(
      expect.arrayContaining([
        'auth:reset-password',
        'user:api-key.delete',
        'user:ssh-key.delete',
        'user:passkey.delete',
        'user:identity.delete',
        'user:account.email-verified',
      ]),
    )
    const asUser = await makeClientToken(world, { id: userId })
    const verify = { token: asUser, body: { token: evilLink } }
    expect((await world.request('POST', '/api/client/account/email/verify', verify)).status).toBe(400)
    expect((await row()).email).toBe(email)
    expect(
      (await world.database.db.select().from(emailVerifications)).filter(({ email: to }) => to !== email),
    ).toEqual([])
  })

  it('cannot be survived by a request that was under way', async () => {
    await registerWithEverything()
    const user = await row()
    await forget()
    const [link] = await resetTokens(world, email)
    expect((await redeem(link)).status).toBe(200)
    const underWay = { ...world.panel, actor: { kind: 'user' as const, user, apiKey: null } }
    await expect(addAccountApiKey(underWay, { description: 'late' })).rejects.toMatchObject({ status: 401 })
    expect(await world.database.db.select().from(apiKeys)).toEqual([])
  })

  it('leaves the keys of an account that was verified', async () => {
    const { claimer, token } = await registerWithEverything()
    const [link] = await emailTokens(world, email)
    await claimer.request('POST', '/api/client/account/email/verify', { token: link })
    await forget()
    const [reset] = await resetTokens(world, email)
    expect((await redeem(reset)).status).toBe(200)
    expect((await world.request('GET', '/api/client/account', { token })).status).toBe(200)
    for (const table of [sshKeys, passkeys, identities]) {
      expect(await world.database.db.select().from(table)).toHaveLength(1)
    }
  })

  it('works for the address that it was mailed to alone, though the address changes while it is sent', async () => {
    const user = await makeUser(world, { email, passwordHash: known.passwordHash })
    const { mail } = world.services
    const movesMeanwhile = async (message: Parameters<typeof mail.send>[0]) => {
      await mail.send(message)
      await world.database.db.update(users).set({ email: 'new@example.test' }).where(eq(users.id, user.id))
    }
    Object.assign(world.panel, { mail: { ...mail, send: movesMeanwhile } })
    await forget()
    const [token] = await resetTokens(world, email)
    Object.assign(world.panel, { mail })
    const answer = await browser.request('POST', '/auth/password/reset', {
      token,
      email: 'new@example.test',
      password,
      password_confirmation: password,
    })
    expect(answer.status).toBe(400)
  })
})
