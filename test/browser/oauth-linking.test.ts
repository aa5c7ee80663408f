import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activity, identities, passkeys, sessions, users } from '../../src/db/schema.ts'
import { sessionId } from '../../src/domain/auth/sessions.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { known, makeClientToken, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import {
  approve,
  followCallback,
  configure,
  type Issuer,
  makeIdentity,
  getSignInMethods,
  unreachableUrl,
  openBrowserOf,
  setProviderEndpoints,
  readSessionData,
  startAuthorization,
  signedInAs,
  signInAt,
  startIssuer,
  enableProvider,
} from './oauth-fixtures.ts'

const world = useWorld()
const { password, passwordHash } = known
type User = Awaited<ReturnType<typeof makeUser>>
let issuer: Issuer
let mara: User
let browser: Browser

beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(async () => issuer.server.stop())

beforeEach(async () => {
  issuer.reset()
  setProviderEndpoints(world)
  await enableProvider(world, 'oidc', { 'sign_in.oidc_issuer': issuer.url, 'sign_in.oidc_name': 'Guild' })
  mara = await makeUser(world, { username: 'mara', passwordHash })
  browser = await openBrowserOf(world, mara)
})

const begin = (as = browser, proof: unknown = password, provider = 'oidc') =>
  as.request('POST', `/account/security/oauth/${provider}`, { current_password: proof })
const link = async (as = browser) => followCallback(as, await approve((await begin(as)).body.redirect))
const unlink = (id: number | string, as = browser, proof: unknown = password) =>
  as.request('DELETE', `/account/security/oauth/${id}`, { current_password: proof })
const linked = () => world.database.db.select().from(identities).orderBy(identities.id)
const callThem = (subject: string, claims: object = {}) =>
  issuer.onIdToken(({ payload }) => Object.assign(payload, { sub: subject, ...claims }))

describe('linking', () => {
  it('ties the account at the provider to the one that is signed in', async () => {
    callThem('mara-there', { name: '  Mara \u0007\u202eL.  ', email: 'other@example.test' })
    const { status, body } = await begin()
    expect([status, Object.keys(body)]).toEqual([200, ['redirect']])
    const before = browser.cookies.get('roost_session')
    expect(await followCallback(browser, await approve(body.redirect))).toBe('/account/sign-in')
    expect(browser.cookies.get('roost_session')).toBe(before)
    expect(await linked()).toMatchObject([
      {
        userId: mara.id,
        provider: 'oidc',
        issuer: issuer.url,
        subject: 'mara-there',
        displayName: 'Mara L.',
        lastUsedAt: null,
      },
    ])
    expect(await readSessionData(world, browser)).toEqual({ notice: 'Your Guild account is linked.' })
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'user:identity.create',
      userId: mara.id,
      properties: { provider: 'oidc' },
    })
    expect(await signInAt(await openBrowser(world))).toBe('/')
  })

  it('needs the password, a session and a page of ours', async () => {
    const wrong = await begin(browser, 'x')
    expect([wrong.status, wrong.body.errors[0].code]).toEqual([400, 'InvalidPasswordProvidedException'])
    for (const proof of [null, '', 5, 'x'.repeat(1025)]) {
      expect((await begin(browser, proof)).status).toBe(422)
    }
    expect((await begin(await openBrowser(world))).status).toBe(401)
    const token = await makeClientToken(world, mara)
    const body = { current_password: password }
    expect((await world.request('POST', '/account/security/oauth/oidc', { token, body })).status).toBe(401)
    const foreign = { headers: { origin: 'https://evil.test' } }
    const forged = await browser.request('POST', '/account/security/oauth/oidc', body, foreign)
    expect(forged.status).toBe(419)
    expect((await begin(browser, password, 'github')).status).toBe(404)
    expect((await begin(browser, password, 'gitlab')).status).toBe(404)
    expect(await readSessionData(world, browser)).toEqual({})
    expect(issuer.calls).toEqual([])
  })

  it('AU-10: is completed only by the user who began it', async () => {
    const nils = await openBrowserOf(world, await makeUser(world, { username: 'nils', passwordHash }))
    const { body } = await begin()
    const path = await approve(body.redirect)
    await begin(nils)
    expect(await followCallback(nils, path)).toBe('/account/sign-in')
    expect((await readSessionData(world, nils))['error']).toMatch(/attempt has expired/)
    const guest = await openBrowser(world)
    expect(await followCallback(guest, path)).toBe('/auth/login')
    const again = await openBrowserOf(world, mara)
    expect(await followCallback(again, path)).toBe('/account/sign-in')
    expect(await linked()).toEqual([])
    expect(await followCallback(browser, path)).toBe('/account/sign-in')
    expect(await linked()).toMatchObject([{ userId: mara.id }])
    expect(await followCallback(browser, path)).toBe('/account/sign-in')
    expect((await readSessionData(world, browser))['error']).toMatch(/attempt has expired/)
  })

  it('AU-10: is not what an attempt to sign in ends with, nor the other way round', async () => {
    const guest = await openBrowser(world)
    const signingIn = await approve(await startAuthorization(guest))
    expect(await followCallback(browser, signingIn)).toBe('/account/sign-in')
    const linking = await approve((await begin()).body.redirect)
    await browser.request('POST', '/auth/logout')
    expect(await followCallback(browser, linking)).toBe('/auth/login')
    expect(await signedInAs(browser)).toBeNull()
    expect(await linked()).toEqual([])
  })

  it('AU-10: names its user: what another session remembers of it is worth nothing', async () => {
    const nils = await openBrowserOf(world, await makeUser(world, { username: 'nils', passwordHash }))
    const guest = await openBrowser(world)
    const linking = await approve((await begin()).body.redirect)
    const signingIn = await approve(await startAuthorization(guest))
    const [begun, wanted] = [await readSessionData(world, browser), await readSessionData(world, guest)]
    for (const [path, memory, as] of [
      [linking, begun, nils],
      [linking, begun, guest],
      [signingIn, wanted, nils],
    ] as const) {
      const id = sessionId(as.cookies.get('roost_session') ?? '')
      await world.database.db.update(sessions).set({ data: memory }).where(eq(sessions.id, id))
      await followCallback(as, path)
      expect((await readSessionData(world, as))['error']).toMatch(/attempt has expired/)
    }
    expect(issuer.calls).not.toContain('/token')
    expect(await linked()).toEqual([])
  })

  it('AU-10: takes nothing from another account, whatever its address', async () => {
    const nils = await makeUser(world, { username: 'nils' })
    await makeIdentity(world, nils, { issuer: issuer.url })
    callThem('johndoe', { email: mara.email, email_verified: true })
    expect(await link()).toBe('/account/sign-in')
    expect((await readSessionData(world, browser))['error']).toBe(
      'This account is already linked to another user.',
    )
    expect(await linked()).toMatchObject([{ userId: nils.id }])
    expect(await world.events()).toEqual([])
  })

  it('is the same twice', async () => {
    expect([await link(), await link()]).toEqual(['/account/sign-in', '/account/sign-in'])
    expect((await linked()).length).toBe(1)
    expect(await world.events()).toEqual(['user:identity.create'])
  })

  it('of one identity by two people at once has one of them', async () => {
    const nils = await openBrowserOf(world, await makeUser(world, { username: 'nils', passwordHash }))
    const paths = [
      await approve((await begin()).body.redirect),
      await approve((await begin(nils)).body.redirect),
    ]
    await Promise.all([followCallback(browser, paths[0] ?? ''), followCallback(nils, paths[1] ?? '')])
    const notes = [await readSessionData(world, browser), await readSessionData(world, nils)]
    expect(notes.filter(({ notice }) => notice)).toHaveLength(1)
    expect(notes.filter(({ error }) => error)).toHaveLength(1)
    expect((await linked()).length).toBe(1)
  })

  it('ends at 25, also when many come at once', async () => {
    for (let count = 0; count < 23; count += 1) await makeIdentity(world, mara, { subject: `held ${count}` })
    const browsers = [browser]
    while (browsers.length < 10) browsers.push(await openBrowserOf(world, mara))
    let number = 0
    issuer.onIdToken(({ payload }) => Object.assign(payload, { sub: `new ${(number += 1)}` }))
    const paths: string[] = []
    for (const each of browsers) paths.push(await approve((await begin(each)).body.redirect))
    await Promise.all(browsers.map((each, index) => followCallback(each, paths[index] ?? '')))
    expect((await linked()).length).toBe(25)
    const notes = await Promise.all(browsers.map((each) => readSessionData(world, each)))
    expect(notes.filter(({ notice }) => notice)).toHaveLength(2)
    expect(notes.filter(({ error }) => /at most 25/.test(error ?? ''))).toHaveLength(8)
    expect(await world.events()).toEqual(['user:identity.create', 'user:identity.create'])
  })

  it('changes nothing when the provider is away or says no', async () => {
    const path = await approve((await begin()).body.redirect)
    await configure(world, { 'sign_in.oidc_issuer': unreachableUrl })
    expect(await followCallback(browser, path)).toBe('/account/sign-in')
    expect((await readSessionData(world, browser))['error']).toMatch(/Guild did not answer as expected/)
    const away = await begin()
    expect([away.status, away.body.errors[0].code]).toEqual([503, 'ServiceUnavailableHttpException'])
    await configure(world, { 'sign_in.oidc_issuer': issuer.url })
    const state = new URL((await begin()).body.redirect).searchParams.get('state')
    expect(
      await followCallback(browser, `/auth/oauth/oidc/callback?error=access_denied&state=${state}`),
    ).toBe('/account/sign-in')
    expect((await readSessionData(world, browser))['error']).toMatch(/access was denied/)
    expect(await linked()).toEqual([])
    expect(await world.events()).toEqual([])
  })
})

describe('unlinking', () => {
  const hold = async (values: Record<string, unknown> = {}, owner = mara) => {
    await makeIdentity(world, owner, { issuer: issuer.url, ...values })
    return (await linked()).at(-1)?.id ?? 0
  }

  it('takes the identity away, with the password', async () => {
    const id = await hold()
    const wrong = await unlink(id, browser, 'x')
    expect([wrong.status, wrong.body.errors[0].code]).toEqual([400, 'InvalidPasswordProvidedException'])
    expect((await unlink(id, browser, null)).status).toBe(422)
    expect((await unlink(id, await openBrowser(world))).status).toBe(401)
    expect((await linked()).length).toBe(1)
    expect((await unlink(id)).status).toBe(204)
    expect(await linked()).toEqual([])
    expect((await unlink(id)).status).toBe(404)
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'user:identity.delete',
      userId: mara.id,
      properties: { provider: 'oidc' },
    })
    const guest = await openBrowser(world)
    expect(await signInAt(guest)).toBe('/auth/login')
    expect((await getSignInMethods(guest)).error).toMatch(/is not linked to an account here/)
  })

  it("leaves other people's identities alone", async () => {
    const nils = await makeUser(world)
    const id = await hold({}, nils)
    expect((await unlink(id)).status).toBe(404)
    for (const odd of ['0', '-1', 'x', '99999999999', '1%20']) expect((await unlink(odd)).status).toBe(404)
    expect((await linked()).length).toBe(1)
    expect(await world.events()).toEqual([])
  })

  describe('while passwords are off', () => {
    const isRefused = async (id: number) => {
      const { status, body } = await unlink(id)
      expect([status, body.errors?.[0]?.code]).toEqual([400, 'DisplayException'])
      expect((await linked()).some((each) => each.id === id)).toBe(true)
      expect(await world.events()).toEqual([])
    }

    beforeEach(() => configure(world, { 'sign_in.password': false, 'sign_in.passkeys': true }))

    it('is refused for the last sign-in method', async () => {
      const id = await hold()
      await isRefused(id)
      await hold({ subject: 'another' })
      expect((await unlink(id)).status).toBe(204)
      expect((await linked()).length).toBe(1)
    })

    it('counts no provider that is off, and no issuer of former days', async () => {
      const id = await hold()
      await hold({ provider: 'github', issuer: 'https://github.com' })
      await hold({ issuer: 'https://former.test' })
      await isRefused(id)
      await enableProvider(world, 'github')
      expect((await unlink(id)).status).toBe(204)
    })

    it('counts passkeys while they are on', async () => {
      const id = await hold()
      const values = { userId: mara.id, name: 'Key', credentialId: 'c', publicKey: 'k' }
      await world.database.db.insert(passkeys).values(values)
      await configure(world, { 'sign_in.passkeys': false })
      await isRefused(id)
      await configure(world, { 'sign_in.passkeys': true })
      // Browsers have none for a panel without a secure origin, as that of the tests is.
      await isRefused(id)
      const { config } = world.services
      Object.assign(world.services, { config: { ...config, url: 'http://localhost' } })
      const body = { current_password: password }
      const headers = { origin: 'http://localhost' }
      const path = `/account/security/oauth/${id}`
      const { status } = await browser.request('DELETE', path, body, { headers })
      Object.assign(world.services, { config })
      expect(status).toBe(204)
    })

    it('leaves one of two that go at once', async () => {
      const ids = [await hold(), await hold({ subject: 'another' })]
      const answers = await Promise.all(ids.map((id) => unlink(id)))
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([204, 400])
      expect((await linked()).length).toBe(1)
    })
  })

  it('goes with the account', async () => {
    await hold()
    await world.database.db.delete(users).where(eq(users.id, mara.id))
    expect(await linked()).toEqual([])
    expect(await signInAt(await openBrowser(world))).toBe('/auth/login')
  })
})
