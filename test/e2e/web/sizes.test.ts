import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import {
  addServerEach,
  type OwnServer,
  startLocalhostPanel,
  startTimeout,
  switchOff,
} from './panel-fixtures.ts'
import { openPageDriver, type PageDriver, serverParts, testTimeout } from './page-driver.ts'
import { viewports } from './screens.ts'

let panel: PanelProcess
let chromium: Chromium
let servers: Record<(typeof viewports)[number]['name'], OwnServer>

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  servers = await addServerEach(panel, viewports)
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})

/** Opens a part of the open server, up to its data. */
async function openWhole({ page, openPart }: PageDriver, part: string): Promise<void> {
  await openPart(part)
  await page.getByLabel('Loading').first().waitFor({ state: 'detached' })
}

/** Starts a server, talks to it, writes a file, looks at every part, and stops it. */
async function play(driver: PageDriver, server: OwnServer): Promise<void> {
  const { page, button, state, heading, consoleSays } = driver
  const file = `sizes-${randomUUID().slice(0, 8)}.txt`
  await button('Start').click()
  await state('Running').waitFor()
  await driver.sendCommand('say Hello at this size')
  await consoleSays('[Server] Hello at this size')
  await openWhole(driver, 'Files')
  await driver.choose('New', 'New file')
  await page.getByLabel('File name').fill(file)
  await driver.rewriteFile('Be kind.')
  await heading(file).waitFor()
  for (const part of serverParts.filter((each) => each !== 'Files')) {
    await openWhole(driver, part)
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(overflow, part).toBeLessThanOrEqual(0)
  }
  await openWhole(driver, 'Console')
  await button('Stop').click()
  await state('Offline').waitFor()
  await page.goto('/')
  const entry = page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: server.name })
  await entry.getByText('Offline', { exact: true }).filter({ visible: true }).first().waitFor()
}

/** Lets the network answer late, and carry as much as that of a phone at the edge of a city. */
async function slowDown({ context, page }: PageDriver): Promise<void> {
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 300,
    downloadThroughput: 100 * 1024,
    uploadThroughput: 50 * 1024,
  })
}

type Size = (typeof viewports)[number]

/** Plays in a window of this size, on the server that is of this window alone. */
async function playAt({ name, width, height }: Size, { onTestFinished }: TestContext, isSlow: boolean) {
  const server = servers[name]
  onTestFinished(() => switchOff(panel, server))
  const driver = await openPageDriver(chromium, panel.bootstrap.url, { viewport: { width, height } })
  onTestFinished(() => driver.context.close())
  if (isSlow) await slowDown(driver)
  await driver.signIn(panel.bootstrap.user)
  await driver.openServer(server.name)
  await play(driver, server)
  expect(driver.problems()).toEqual([])
}

describe('a player', { timeout: testTimeout }, () => {
  it.for(viewports)('does everything on a $name', (size, context) => playAt(size, context, false))

  // They wait most of the time, and do so at the same time.
  it.concurrent.for(viewports)('does everything over a slow network, on a $name', (size, context) =>
    playAt(size, context, true),
  )
})
