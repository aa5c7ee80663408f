import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Chromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { openPlayer, type Player } from './player.ts'
import { openProviderStage, type ProviderStage } from './provider-stage.ts'
import { makeAccount, startTimeout } from './stage.ts'
import { openVisitor, testTimeout, type Visitor } from './visitor.ts'

let panel: PanelProcess
let chromium: Chromium
const people: (Player | Visitor)[] = []

let stage: ProviderStage

beforeAll(async () => {
  stage = await openProviderStage()
  ;({ panel, chromium } = stage)
}, startTimeout)
afterAll(async () => stage?.close())
afterEach(async () => {
  const opened = people.splice(0)
  await Promise.all(opened.map(({ context }) => context.close()))
  expect(opened.flatMap(({ troubles }) => troubles())).toEqual([])
})

async function sitDown(): Promise<Player> {
  const player = await openPlayer(chromium, panel.bootstrap.url)
  people.push(player)
  return player
}

/** A guest at the pages themselves. */
async function comeBy(): Promise<Visitor> {
  const visitor = await openVisitor(chromium, panel.bootstrap.url)
  people.push(visitor)
  return visitor
}

describe('at the page to sign in, somebody', { timeout: testTimeout }, () => {
  it('gets to the page that he wanted by way of a provider', async () => {
    const account = await makeAccount(panel, 'linked')
    const player = await sitDown()
    expect(await player.signIn(account)).toBe('signed in')
    await player.linkIdentity(account)

    const { page, ...visitor } = await comeBy()
    await page.goto('/account/ssh?from=mail')
    await page.getByRole('link', { name: 'Sign in with Guild' }).click()
    await visitor.heading('SSH keys').waitFor()
    expect(new URL(page.url()).pathname).toBe('/account/ssh')

    await player.turnOnSecondFactor(account)
    const again = await comeBy()
    await again.page.goto('/account/ssh?from=mail')
    await again.page.getByRole('link', { name: 'Sign in with Guild' }).click()
    await again.heading('Second factor').waitFor()
    expect(new URL(again.page.url()).searchParams.get('intended')).toBe('/account/ssh?from=mail')
  })

  it('is told when he asked for too much, and can go on once he may', async () => {
    const { page, provoke } = await comeBy()
    provoke(/429/)
    const refusal = { errors: [{ code: 'TooManyRequestsHttpException', status: '429', detail: 'Too much.' }] }
    await page.route('**/auth/methods*', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json: refusal }),
    )
    await page.goto('/auth/login')
    await page.getByText('Too many requests').waitFor()
    await page.unroute('**/auth/methods*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByLabel('Password', { exact: true }).waitFor()
  })

  it('goes nowhere else after signing in, whatever a link to that page says', async () => {
    const account = await makeAccount(panel, 'lured')
    for (const lure of ['//evil.test/', '/.//evil.test/', '/\\evil.test/']) {
      const visitor = await comeBy()
      await visitor.page.goto(`/auth/login?${new URLSearchParams({ intended: lure })}`)
      await visitor.enterName(account)
      await visitor.heading('Servers').waitFor()
      expect(new URL(visitor.page.url()).pathname, lure).toBe('/')
    }
  })

  it('is told by the panel when an attempt is over: another one began, or the codes were wrong', async () => {
    const account = await makeAccount(panel, 'mistyping')
    const player = await sitDown()
    expect(await player.signIn(account)).toBe('signed in')
    await player.turnOnSecondFactor(account)
    const visitor = await comeBy()
    const code = (page: Page) => page.getByLabel('Code from your authenticator app')
    const enterWrongCode = async (page: Page) => {
      const answer = page.waitForResponse(/login\/checkpoint/)
      await code(page).fill('000000')
      expect((await answer).status()).toBe(400)
    }
    await visitor.page.goto('/auth/login')
    await visitor.enterName(account)
    await code(visitor.page).waitFor()
    const other = await visitor.context.newPage()
    await other.goto('/auth/login')
    await other.getByLabel('Username or e-mail address').fill(account.username)
    await other.getByLabel('Password', { exact: true }).fill(account.password)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    await code(other).waitFor()

    await enterWrongCode(visitor.page)
    await visitor.page.getByText('This sign-in took too long. Start again.').waitFor()
    // The panel counted that one as a try of the attempt which is open.
    for (let tries = 0; tries < 4; tries += 1) await enterWrongCode(other)
    await other.getByText('Too many wrong codes. Start again.').waitFor()
  })
})
