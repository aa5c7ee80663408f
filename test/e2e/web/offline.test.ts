import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { freePort, type PanelProcess } from '../../support/panel-process.ts'
import { startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import { openPageDriver, type PageDriver, testTimeout } from './page-driver.ts'

let panel: PanelProcess
let chromium: Chromium
let driver: PageDriver

beforeAll(async () => {
  // A panel that comes back is at the same address.
  const port = String(await freePort())
  ;[panel, chromium] = await Promise.all([startLocalhostPanel({ PORT: port }), startChromium()])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
afterEach(() => driver?.context.close())

/** Signs in, opens the files of the demo server once, and waits until the browser has the code of all pages. */
async function signInAndKeep(): Promise<PageDriver> {
  driver = await openPageDriver(chromium, panel.bootstrap.url, { serviceWorkers: 'allow' })
  const { page } = driver
  await driver.signIn(panel.bootstrap.user)
  await page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready
    if (active?.state !== 'activated')
      await new Promise((resolve) => active?.addEventListener('statechange', resolve))
  })
  await expect.poll(() => page.evaluate(() => caches.has('roost-page')), { timeout: 30_000 }).toBe(true)
  await driver.openServer('Demo server')
  await driver.openPart('Files')
  await page.getByRole('link', { name: 'server.properties', exact: true }).waitFor()
  return driver
}

describe('without a connection', { timeout: testTimeout }, () => {
  it('shows what was seen, starts again, says why an action is not possible, and comes back', async () => {
    const { page, context, heading, openPart, button, choose, dialog } = await signInAndKeep()
    await context.setOffline(true)
    await page.getByText('You are offline').waitFor()
    // Its code was never loaded by a page of this browser.
    await openPart('Schedules')
    await page.getByText('The panel cannot be reached').first().waitFor()

    // The live connection has failed by then, of which the node is not to blame.
    await page.waitForTimeout(3000)
    expect(await page.getByText('Node unreachable').count()).toBe(0)

    await page.reload()
    await page.getByText('You are offline').waitFor()
    await openPart('Files')
    await page.getByRole('link', { name: 'server.properties', exact: true }).waitFor()
    await choose('New', 'New folder')
    await dialog('New folder').getByLabel('Name').fill('offline')
    await dialog('New folder').getByRole('button', { name: 'Create' }).click()
    await page.getByText('Check your connection').first().waitFor()
    await page.keyboard.press('Escape')

    await context.setOffline(false)
    await page.getByText('You are offline').waitFor({ state: 'hidden' })
    await openPart('Schedules')
    await heading('Schedules').waitFor({ state: 'attached' })
    await button('Create schedule').first().waitFor()
  })

  it('says so as well while the panel is down, and recovers when it runs again', async () => {
    const { page } = await signInAndKeep()
    await panel.kill()
    await page.reload()
    await page.getByText('The panel cannot be reached').first().waitFor()
    await page.getByRole('link', { name: 'server.properties', exact: true }).waitFor()
    await panel.restart()
    await page.getByText('The panel cannot be reached').first().waitFor({ state: 'hidden' })
  })

  it('nothing of an account is kept after it has signed out', async () => {
    const { page, heading, choose, button } = await signInAndKeep()
    expect(await page.evaluate(() => caches.keys())).toEqual(
      expect.arrayContaining(['roost-code', 'roost-data', 'roost-page']),
    )
    await page.goto('/')
    await heading('Servers').waitFor()
    await choose('Account menu', 'Sign out')
    await button('Sign in').waitFor()
    await expect.poll(() => page.evaluate(() => caches.keys())).toEqual(['roost-code'])
  })
})
