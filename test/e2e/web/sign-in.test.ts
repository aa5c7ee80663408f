import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Chromium } from '../../support/chromium.ts'
import type { OidcProvider } from '../../support/oidc-provider.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { eventually } from '../../support/processes.ts'
import { openPlayer, type Player } from './player.ts'
import { startProviderFixtures, type ProviderFixtures } from './provider-fixtures.ts'
import { makeAccount, startTimeout } from './panel-fixtures.ts'

let panel: PanelProcess
let provider: OidcProvider
let chromium: Chromium
const players: Player[] = []

let fixtures: ProviderFixtures

beforeAll(async () => {
  fixtures = await startProviderFixtures()
  ;({ panel, chromium, provider } = fixtures)
}, startTimeout)
afterAll(async () => fixtures?.close())
afterEach(async () => {
  const opened = players.splice(0)
  await Promise.all(opened.map(({ context }) => context.close()))
  expect(opened.flatMap(({ problems }) => problems())).toEqual([])
})

/** Fails the test for any problem in the browser. */
async function sitDown(userAgent?: string): Promise<Player> {
  const player = await openPlayer(chromium, panel.bootstrap.url, userAgent)
  players.push(player)
  return player
}

/** Returns the link of the newest mail to this address, from the outbox of the administrator. */
async function linkMailedTo(email: string): Promise<string> {
  const admin = await sitDown()
  expect(await admin.signIn(panel.bootstrap.admin)).toBe('signed in')
  return eventually(async () => {
    await admin.open('/outbox')
    const mail = admin.page.locator('details', { hasText: email }).first()
    if ((await mail.count()) === 0) return null
    return /http:\S+\/auth\/password\/reset\/\S+/.exec((await mail.textContent()) ?? '')?.[0] ?? null
  })
}

describe('in a browser, a user', { timeout: 120_000 }, () => {
  it('signs in by a passkey, and by a code where the account asks for one', async () => {
    const account = await makeAccount(panel, 'passkey')
    const player = await sitDown()
    await player.addAuthenticator()
    expect(await player.signIn(account)).toBe('signed in')
    await player.registerPasskey(account, 'Laptop')
    await player.signOut()
    expect([await player.whoAmI(), await player.open('/')]).toEqual([null, '/auth/login'])
    expect(await player.signInWithPasskey()).toBe('signed in')
    expect(await player.whoAmI()).toBe(account.username)

    const nextCode = await player.turnOnSecondFactor(account)
    await player.signOut()
    expect(await player.signInWithPasskey()).toBe('asked for a code')
    expect(await player.whoAmI()).toBeNull()
    expect(await player.enterCode(await nextCode())).toBe('signed in')
    expect(await player.whoAmI()).toBe(account.username)
    expect((await player.security()).passkeys).toMatchObject([
      { name: 'Laptop', last_used_at: expect.any(String) },
    ])
  })

  it('links an account at a provider and signs in by it; the provider may say no', async () => {
    const account = await makeAccount(panel, 'linked')
    const player = await sitDown()
    expect(await player.signIn(account)).toBe('signed in')
    await player.linkIdentity(account)
    expect(new URL(player.page.url()).pathname).toBe('/account/sign-in')
    expect(await player.security()).toMatchObject({
      notice: expect.stringContaining('Guild'),
      error: null,
      identities: [{ provider: 'oidc', display_name: 'johndoe' }],
    })
    expect((await player.security()).notice).toBeNull()
    await player.signOut()

    provider.refuseNext()
    await player.signInWithProvider()
    expect(new URL(player.page.url()).pathname).toBe('/auth/login')
    expect(await player.signInError()).toContain('Guild')
    expect(await player.signInError()).toBeNull()
    expect(await player.whoAmI()).toBeNull()

    await player.signInWithProvider()
    expect(new URL(player.page.url()).pathname).toBe('/')
    expect(await player.whoAmI()).toBe(account.username)
  })

  it('chooses a new password by a mailed link, which ends the other sessions', async () => {
    const account = await makeAccount(panel, 'forgetful')
    const [before, player] = [await sitDown(), await sitDown()]
    expect(await before.signIn(account)).toBe('signed in')
    await player.askForNewPassword(account.email)
    const renewed = { ...account, password: 'another good one' }
    const link = await linkMailedTo(account.email)
    await player.chooseNewPassword(link, renewed.password)
    expect(await player.whoAmI()).toBe(account.username)
    expect([await before.whoAmI(), await before.open('/')]).toEqual([null, '/auth/login'])
    expect(await before.signIn(account)).toBe('refused')
    expect(await before.signIn(renewed)).toBe('signed in')
    expect(await before.whoAmI()).toBe(account.username)
  })

  it('ends a session of another browser', async () => {
    const account = await makeAccount(panel, 'elsewhere')
    const [cafe, home] = [await sitDown('Cafe'), await sitDown('Home')]
    expect([await cafe.signIn(account), await home.signIn(account)]).toEqual(['signed in', 'signed in'])
    const listed = await home.sessions()
    const isCurrent = listed.map((each) => [each.user_agent, each.is_current])
    expect([listed.length, Object.fromEntries(isCurrent)]).toEqual([2, { Cafe: false, Home: true }])
    for (const session of listed.filter((each) => !each.is_current)) await home.endSession(session)
    expect([await cafe.whoAmI(), await cafe.open('/')]).toEqual([null, '/auth/login'])
    expect(await home.whoAmI()).toBe(account.username)
    expect(await home.sessions()).toMatchObject([{ user_agent: 'Home' }])
  })
})
