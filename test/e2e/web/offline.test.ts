import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { freePort, type PanelProcess } from '../../support/panel-process.ts'
import { addServerEach, type OwnServer, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import { openPageDriver, type PageDriver, testTimeout } from './page-driver.ts'
import { viewports } from './screens.ts'

let panel: PanelProcess
let chromium: Chromium
let servers: Record<Size['name'], OwnServer>
let driver: PageDriver
type Size = (typeof viewports)[number]

beforeAll(async () => {
  // A panel that comes back is at the same address.
  const port = String(await freePort())
  ;[panel, chromium] = await Promise.all([startLocalhostPanel({ PORT: port }), startChromium()])
  servers = await addServerEach(panel, viewports)
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
afterEach(() => driver?.context.close())

/** Signs in, opens the files of a server once, and waits until the browser has the code of all pages. */
async function signInAndKeep({ name, width, height }: Size): Promise<PageDriver> {
  driver = await openPageDriver(chromium, panel.bootstrap.url, {
    serviceWorkers: 'allow',
    viewport: { width, height },
  })
  const { page } = driver
  await driver.signIn(panel.bootstrap.user)
  await page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready
    if (active?.state !== 'activated')
      await new Promise((resolve) => active?.addEventListener('statechange', resolve))
  })
  await expect.poll(() => page.evaluate(() => caches.has('roost-page')), { timeout: 30_000 }).toBe(true)
  await driver.openServer(servers[name].name)
  await driver.openPart('Files')
  await page.getByRole('link', { name: 'server.properties', exact: true }).waitFor()
  return driver
}

/** Waits until so many attempts at the live connection have failed. */
function failedAttempts(page: Page, attempts: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = attempts
  page.on('requestfailed', (request) => {
    if (request.url().endsWith('/websocket') && (left -= 1) === 0) resolve()
  })
  return promise
}

describe.each(viewports)('without a connection, on a $name', { timeout: testTimeout }, (size) => {
  it('shows what was seen, starts again, says why an action is not possible, and comes back', async () => {
    const { page, context, heading, openPart, button, choose, dialog } = await signInAndKeep(size)
    await context.setOffline(true)
    await page.getByText('You are offline').waitFor()
    // Its code was never loaded by a page of this browser.
    await openPart('Schedules')
    await page.getByText('The panel cannot be reached').first().waitFor()

    const attempts = failedAttempts(page, 3)
    await page.reload()
    await page.getByText('You are offline').waitFor()
    await openPart('Files')
    await page.getByRole('link', { name: 'server.properties', exact: true }).waitFor()
    await choose('New', 'New folder')
    await dialog('New folder').getByLabel('Name').fill('offline')
    await dialog('New folder').getByRole('button', { name: 'Create' }).click()
    await page.getByText('Check your connection').first().waitFor()
    await page.keyboard.press('Escape')
    // A live connection is called lost after two attempts; the node is not to blame.
    await attempts
    expect(await page.getByText('Node unreachable').count()).toBe(0)

    await context.setOffline(false)
    await page.getByText('You are offline').waitFor({ state: 'hidden' })
    await openPart('Schedules')
    await heading('Schedules').waitFor({ state: 'attached' })
    await button('Create schedule').first().waitFor()
  })

  it('says so as well while the panel is down, recovers when it runs again, and forgets at sign-out', async () => {
    const { page, heading, choose, button } = await signInAndKeep(size)
    await panel.kill()
    await page.reload()
    await page.getByText('The panel cannot be reached').first().waitFor()
    await page.getByRole('link', { name: 'server.properties', exact: true }).waitFor()
    await panel.restart()
    await page.getByText('The panel cannot be reached').first().waitFor({ state: 'hidden' })

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
