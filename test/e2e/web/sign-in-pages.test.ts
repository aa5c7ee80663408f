import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Chromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { openPlayer, type Player } from './player.ts'
import { startProviderFixtures, type ProviderFixtures } from './provider-fixtures.ts'
import { makeAccount, startTimeout } from './panel-fixtures.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'

let panel: PanelProcess
let chromium: Chromium
const people: (Player | PageDriver)[] = []

let fixtures: ProviderFixtures

beforeAll(async () => {
  fixtures = await startProviderFixtures()
  ;({ panel, chromium } = fixtures)
}, startTimeout)
afterAll(async () => fixtures?.close())
afterEach(async () => {
  const opened = people.splice(0)
  await Promise.all(opened.map(({ context }) => context.close()))
  expect(opened.flatMap(({ problems }) => problems())).toEqual([])
})

async function sitDown(): Promise<Player> {
  const player = await openPlayer(chromium, panel.bootstrap.url)
  people.push(player)
  return player
}

/** Opens the application as a guest. */
async function comeBy(): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url)
  people.push(driver)
  return driver
}

describe('at the sign-in page, a user', { timeout: testTimeout }, () => {
  it('gets to the requested page by signing in at a provider', async () => {
    const account = await makeAccount(panel, 'linked')
    const player = await sitDown()
    expect(await player.signIn(account)).toBe('signed in')
    await player.linkIdentity(account)

    const { page, ...driver } = await comeBy()
    await page.goto('/account/ssh?from=mail')
    await page.getByRole('link', { name: 'Sign in with Guild' }).click()
    await driver.heading('SSH keys').waitFor()
    expect(new URL(page.url()).pathname).toBe('/account/ssh')

    await player.turnOnSecondFactor(account)
    const again = await comeBy()
    await again.page.goto('/account/ssh?from=mail')
    await again.page.getByRole('link', { name: 'Sign in with Guild' }).click()
    await again.heading('Two-factor authentication').waitFor()
    expect(new URL(again.page.url()).searchParams.get('intended')).toBe('/account/ssh?from=mail')
  })

  it('sees when there were too many requests, and can continue afterwards', async () => {
    const { page, expectProblem } = await comeBy()
    expectProblem(/429/)
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
      const driver = await comeBy()
      await driver.page.goto(`/auth/login?${new URLSearchParams({ intended: lure })}`)
      await driver.enterName(account)
      await driver.heading('Servers').waitFor()
      expect(new URL(driver.page.url()).pathname, lure).toBe('/')
    }
  })

  it('is told by the panel when an attempt is over: another one began, or the codes were wrong', async () => {
    const account = await makeAccount(panel, 'mistyping')
    const player = await sitDown()
    expect(await player.signIn(account)).toBe('signed in')
    await player.turnOnSecondFactor(account)
    const driver = await comeBy()
    const code = (page: Page) => page.getByLabel('Code from your authenticator app')
    const enterWrongCode = async (page: Page) => {
      const answer = page.waitForResponse(/login\/checkpoint/)
      await code(page).fill('000000')
      expect((await answer).status()).toBe(400)
    }
    await driver.page.goto('/auth/login')
    await driver.enterName(account)
    await code(driver.page).waitFor()
    const other = await driver.context.newPage()
    await other.goto('/auth/login')
    await other.getByLabel('Username or e-mail address').fill(account.username)
    await other.getByLabel('Password', { exact: true }).fill(account.password)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    await code(other).waitFor()

    await enterWrongCode(driver.page)
    await driver.page.getByText('The sign-in has expired. Start again.').waitFor()
    // The panel counted that one as a try of the attempt which is open.
    for (let tries = 0; tries < 4; tries += 1) await enterWrongCode(other)
    await other.getByText('Too many incorrect codes. Start again.').waitFor()
  })
})
