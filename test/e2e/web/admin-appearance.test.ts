import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { png } from '../../support/pictures.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'
import { startLocalhostPanel, startTimeout } from './panel-fixtures.ts'

let panel: PanelProcess
let chromium: Chromium
const drivers: PageDriver[] = []

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
afterEach(async () => {
  const opened = drivers.splice(0)
  expect(opened.flatMap(({ problems }) => problems())).toEqual([])
  await Promise.all(opened.map(({ context }) => context.close()))
})

async function open(): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url)
  drivers.push(driver)
  return driver
}

describe('an administrator', { timeout: testTimeout }, () => {
  it('gives the panel logo, colour and links, and guests see them at once', async () => {
    const { page, button, heading, toast, ...driver } = await open()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/settings/appearance')
    await heading('Settings').waitFor()
    await page.getByLabel(/^Accent colour/).fill('#ffcc00')
    await page.getByText('the dark one #ffcc00').waitFor()
    const logo = { name: 'logo.png', mimeType: 'image/png', buffer: png(120, 40) }
    await page.getByLabel('Logo on light backgrounds').setInputFiles(logo)
    await page.getByRole('button', { name: 'Remove' }).waitFor()
    await page.getByLabel(/^Links at the foot/).fill('Imprint | https://host.example/imprint')
    await button('Save').click()
    await toast('Saved.').waitFor()
    await page.getByText('Changed by').first().waitFor()

    const guest = await open()
    await guest.page.goto('/auth/login')
    await guest.page.getByRole('link', { name: 'Imprint' }).waitFor()
    const shown = await guest.page.evaluate(() => ({
      brand: getComputedStyle(document.documentElement).getPropertyValue('--brand').trim(),
      logo: [...document.images].some(({ naturalWidth }) => naturalWidth === 120),
    }))
    expect(shown.logo).toBe(true)
    expect(shown.brand).toMatch(/^#[0-9a-f]{6}$/)
    expect(shown.brand).not.toBe('#0c6b58')
  })
})
