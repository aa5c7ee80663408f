import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { keysOf } from './keyboard.ts'
import { addServer, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'

let panel: PanelProcess
let chromium: Chromium
const drivers: PageDriver[] = []

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  await addServer(panel, 'Second world')
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

async function signIn(size = { width: 1366, height: 650 }): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url)
  drivers.push(driver)
  await driver.page.setViewportSize(size)
  await driver.signIn(panel.bootstrap.user)
  return driver
}

/** Marks the elements that must stay; `kept` tells which still stand in the page. */
async function markFrame(page: Page, selectors: readonly string[]): Promise<void> {
  for (const selector of selectors)
    await page.locator(selector).evaluate((element) => element.setAttribute('data-kept', 'yes'))
}
const kept = (page: Page) => page.locator('[data-kept=yes]').count()

describe('the frame of the pages', { timeout: testTimeout }, () => {
  it('switches to the same page of another server, by keyboard', async () => {
    const { page, heading, ...driver } = await signIn()
    const keys = keysOf(page)
    await driver.openServer('Demo server')
    await driver.openPart('Files')
    const switcher = page.getByRole('button', { name: 'Demo server: switch server' })
    const list = page.getByRole('dialog', { name: 'Switch server' })

    await keys.tabTo(switcher)
    await keys.press('Enter')
    await keys.holdsFocus(list.getByRole('combobox', { name: 'Switch server' }))
    await list.getByRole('option', { name: /^Demo server/ }).waitFor()
    await keys.press('Escape')
    await list.waitFor({ state: 'detached' })
    await keys.holdsFocus(switcher)

    await keys.press('Enter')
    await keys.holdsFocus(list.getByRole('combobox', { name: 'Switch server' }))
    await page.keyboard.type('second')
    await list.getByRole('option', { name: /^Second world/, selected: true }).waitFor()
    await keys.press('Enter')
    await page.getByRole('button', { name: 'Second world: switch server' }).waitFor()
    await heading('Files').waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/server\/\w+\/files$/)

    await keys.push(page.getByRole('button', { name: 'Second world: switch server' }))
    await list.getByRole('option', { name: 'All servers' }).waitFor()
    await keys.press('End', 'Enter')
    await heading('Servers').waitFor()
  })

  it('stays where it is while the pages of a server change', async () => {
    const { page, serverNav, ...driver } = await signIn()
    await driver.openServer('Demo server')
    await serverNav.getByRole('link', { name: 'Files', exact: true }).waitFor()
    await markFrame(page, [
      'header:has(nav[aria-label=Breadcrumb])',
      'nav[aria-label="Server pages"] >> visible=true',
      'section[aria-label="Demo server"]',
    ])
    for (const part of ['Files', 'Backups', 'Databases', 'Users', 'Startup', 'Settings', 'Console']) {
      await driver.openPart(part)
      expect(await kept(page), part).toBe(3)
      const current = serverNav.locator('[aria-current=page]')
      expect(await current.allInnerTexts(), part).toEqual([part])
      expect(
        await page.getByRole('navigation', { name: 'Breadcrumb' }).locator('[aria-current=page]').innerText(),
      ).toBe(part)
    }
  })

  it('has a bar at the foot of a phone, with everything else behind "More"', async () => {
    const { page, heading, serverNav, button, dialog } = await signIn({ width: 360, height: 740 })
    await page
      .getByRole('navigation', { name: 'Panel pages' })
      .getByRole('link', { name: 'Account' })
      .waitFor()
    await page.getByRole('link', { name: 'Demo server', exact: true }).click()
    await heading('Console').waitFor({ state: 'attached' })
    const links = serverNav.getByRole('link')
    expect(await links.allInnerTexts()).toEqual(['Console', 'Files', 'Backups', 'Schedules'])
    for (const link of await links.all())
      expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    const bar = await serverNav.boundingBox()
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBe(740)

    await button('More').click()
    await dialog('Server pages').getByRole('link', { name: 'Startup', exact: true }).click()
    await heading('Startup').waitFor()
    await dialog('Server pages').waitFor({ state: 'detached' })
    expect(await button('More').getAttribute('aria-current')).toBe('true')
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBe(360)

    // The last line of the page is not behind the bar.
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
    const last = await page.locator('main').boundingBox()
    expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual((await serverNav.boundingBox())?.y ?? 0)
  })
})

describe('what a page says', { timeout: testTimeout }, () => {
  it('tells states by shape as well as colour, and moves for less than 200 ms, or not at all', async () => {
    const { page, state, ...driver } = await signIn()
    await driver.openServer('Second world')
    await state('Offline').waitFor()
    const shape = page.getByRole('region', { name: 'Second world' }).locator('[data-shape]')
    expect(await shape.getAttribute('data-shape')).toBe('ring')
    const seconds = () =>
      shape.evaluate((element) => Number.parseFloat(getComputedStyle(element).animationDuration))
    expect(await seconds()).toBeLessThanOrEqual(0.001)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await seconds()).toBeGreaterThan(0.1)
    expect(await seconds()).toBeLessThan(0.2)
  })

  it('offers only what can succeed, and says why it does not', async () => {
    const { page, button, serverNav, ...driver } = await signIn()
    await driver.openServer('Second world')
    await driver.openPart('Databases')
    await page.getByText('Databases cannot be created on this panel at the moment.').waitFor()
    expect(await button('Create database').count()).toBe(0)
    await driver.openPart('Network')
    await page.getByText('Only an administrator can add allocations here.').waitFor()
    expect(await button('Add allocation').count()).toBe(0)
    await driver.openPart('Startup')
    expect(await page.getByRole('link', { name: 'Edit as administrator' }).count()).toBe(0)

    await driver.openPart('Files')
    await driver.choose('New', 'New folder')
    await driver.dialog('New folder').getByLabel('Folder name').fill('empty')
    await driver.dialog('New folder').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'empty', exact: true }).click()
    await page.getByText('This folder is empty.').waitFor()
    expect(await page.getByText('Drop files or folders here, or choose files').count()).toBe(1)
    await page.getByRole('link', { name: 'Trash' }).click()
    await driver.heading('Trash').waitFor()
    expect(await serverNav.locator('[aria-current=page]').allInnerTexts()).toEqual(['Files'])
  })

  it('says what to do about an error that has no reason', async () => {
    const { page, button, ...driver } = await signIn()
    driver.expectProblem(/500/)
    await driver.openServer('Demo server')
    await page.route('**/api/client/servers/*/users**', (route) => route.fulfill({ status: 500, body: '' }))
    await driver.openPart('Users')
    await page.getByText('Try again. If it happens again, contact your host.').waitFor()
    await page.unroute('**/api/client/servers/*/users**')
    await button('Try again').click()
    await page.getByText('No other users have access.').waitFor()
    // The next action stands where there is nothing yet.
    await button('Invite user').waitFor()
  })
})

describe('the typeface', { timeout: testTimeout }, () => {
  it('is in the page after the first visit, in at most 40 KB', async () => {
    const { page } = await signIn()
    await page.reload()
    await page.getByRole('heading', { name: 'Servers' }).waitFor()
    await expect.poll(() => page.evaluate(() => document.fonts.check('600 16px Geist'))).toBe(true)
    const sizes = await page.evaluate(async () => {
      const sheets = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      const faces = sheets.filter((rule) => rule instanceof CSSFontFaceRule)
      const files = faces.map((face) => /url\("([^"]+)"/.exec(face.style.getPropertyValue('src'))?.[1] ?? '')
      const base = document.querySelector<HTMLLinkElement>('link[rel=stylesheet]')?.href
      return Promise.all(files.map(async (file) => (await (await fetch(new URL(file, base))).blob()).size))
    })
    expect(sizes).toHaveLength(3)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(40_000)
  })
})
