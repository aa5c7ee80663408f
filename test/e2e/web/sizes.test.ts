import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { startLocalhostPanel, startTimeout, switchOff } from './panel-fixtures.ts'
import { openPageDriver, type PageDriver, testTimeout } from './page-driver.ts'
import { viewports } from './screens.ts'

let panel: PanelProcess
let chromium: Chromium
let driver: PageDriver

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
beforeEach(() => switchOff(panel))
afterEach(async () => {
  expect(driver.problems()).toEqual([])
  await driver.context.close()
})

/** Opens a part of the server that is open, by the navigation or, on a phone, by what stands behind "More". */
async function openPart({ page, serverNav, button, dialog, heading }: PageDriver, name: string) {
  const link = serverNav.getByRole('link', { name, exact: true })
  if ((await link.count()) > 0) await link.click()
  else {
    await button('More').click()
    await dialog('Server pages').getByRole('link', { name, exact: true }).click()
  }
  await heading(name).waitFor({ state: 'attached' })
  await page.getByLabel('Loading').first().waitFor({ state: 'detached' })
}

/** Starts a server, talks to it, writes a file, looks at every part, and stops it. */
async function play({ page, button, state, heading, consoleSays, ...more }: PageDriver) {
  const file = `sizes-${randomUUID().slice(0, 8)}.txt`
  await button('Start').click()
  await state('Running').waitFor()
  await more.sendCommand('say Hello at this size')
  await consoleSays('[Server] Hello at this size')
  await openPart(driver, 'Files')
  await more.choose('New', 'New file')
  await page.getByLabel('File name').fill(file)
  await more.rewriteFile('Be kind.')
  await heading(file).waitFor()
  for (const part of [
    'Backups',
    'Schedules',
    'Usage',
    'Databases',
    'Network',
    'Users',
    'Activity',
    'Startup',
    'Settings',
  ]) {
    await openPart(driver, part)
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(overflow, part).toBeLessThanOrEqual(0)
  }
  await openPart(driver, 'Console')
  await button('Stop').click()
  await state('Offline').waitFor()
  await page.goto('/')
  await page.getByText('Offline', { exact: true }).filter({ visible: true }).first().waitFor()
}

describe('a player', { timeout: testTimeout }, () => {
  it.each(viewports)('does everything on a $name', async ({ width, height }) => {
    driver = await openPageDriver(chromium, panel.bootstrap.url, { viewport: { width, height } })
    await driver.signIn(panel.bootstrap.user)
    await driver.openServer('Demo server')
    await play(driver)
  })

  it('does everything over a slow network', async () => {
    driver = await openPageDriver(chromium, panel.bootstrap.url)
    const session = await driver.context.newCDPSession(driver.page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 300,
      downloadThroughput: 100 * 1024,
      uploadThroughput: 50 * 1024,
    })
    await driver.signIn(panel.bootstrap.user)
    await driver.openServer('Demo server')
    await play(driver)
  })
})
