import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium, type Tab } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import {
  adminScreens,
  seedScreens,
  type ScreenData,
  guestScreens,
  openScreen,
  playerScreens,
  type Screen,
  themes,
  viewports,
} from './screens.ts'
import { openGuest, openSignedIn } from './appearance.ts'
import { startLocalhostPanel } from './panel-fixtures.ts'

let panel: PanelProcess
let chromium: Chromium
let screenData: ScreenData
let axe: string

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  screenData = await seedScreens(panel)
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
})
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})

type Impact = 'minor' | 'moderate' | 'serious' | 'critical'
const impacts: readonly Impact[] = ['minor', 'moderate', 'serious', 'critical']

/** Lists accessibility violations of a page from a severity on, a line each. */
async function barriersOf(page: Page, least: Impact): Promise<string[]> {
  const { violations } = (await page.evaluate('axe.run(document)')) as AxeResults
  return violations
    .filter(({ impact }) => impacts.indexOf(impact ?? 'minor') >= impacts.indexOf(least))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}

/** Lists what is wrong with the layout of a page, and its accessibility violations in one theme after the other. */
async function faultsOf({ page, problems }: Tab, screen: Screen, least: Impact): Promise<string[]> {
  await openScreen(page, screen)
  const [headings, overflow] = await page.evaluate(() => [
    [...document.querySelectorAll('h1')].length,
    document.documentElement.scrollWidth - innerWidth,
  ])
  const faults = [
    ...(headings === 1 ? [] : [`${headings} first headings`]),
    ...((overflow ?? 0) > 0 ? [`${overflow} pixels wider than the window`] : []),
  ]
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    faults.push(...(await barriersOf(page, least)).map((barrier) => `${theme}: ${barrier}`))
  }
  return [...faults, ...problems()].map((fault) => `${screen.name}: ${fault}`)
}

/** Opens each screen in a browser that has axe, and lists what is wrong with them. */
async function faultsOfAll(tab: Tab, screens: Screen[], least: Impact = 'minor'): Promise<string[]> {
  await tab.context.addInitScript(axe)
  const faults: string[] = []
  for (const screen of screens) faults.push(...(await faultsOf(tab, screen, least)))
  await tab.context.close()
  return faults
}

describe('the list of servers', () => {
  it('is there with two requests for data, however many servers it shows', async () => {
    const tab = await openSignedIn(chromium, panel, { viewport: viewports[1], theme: 'light' })
    const requests: string[] = []
    tab.page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (/^\/(api|account|auth)\b/.test(pathname)) requests.push(pathname)
    })
    await tab.page.goto('/')
    await tab.page.getByText('Running').filter({ visible: true }).first().waitFor()
    expect(requests.toSorted()).toEqual(['/api/client', '/api/client/servers/resources'])
    await tab.context.close()
  })
})

describe('the console', () => {
  it('fits into the window with its command input, also while searching', async () => {
    const tab = await openSignedIn(chromium, panel, { viewport: viewports[0], theme: 'light' })
    await tab.page.goto(`/server/${screenData.server}`)
    await tab.page.getByRole('button', { name: 'Find in the console' }).click()
    await tab.page.getByRole('textbox', { name: 'Find in the console' }).waitFor()
    await tab.page.locator('.xterm').waitFor()
    // The name of a button does not stand over the menu that it has opened.
    await tab.page.getByRole('button', { name: 'More actions' }).click()
    await tab.page.getByRole('menuitem').first().waitFor()
    await tab.page.waitForTimeout(600)
    expect(await tab.page.locator('.tooltip').count()).toBe(0)
    await tab.page.keyboard.press('Escape')
    for (const [width, height] of [
      [360, 740],
      [1366, 650],
      [1440, 900],
      [1920, 1080],
    ] as const) {
      await tab.page.setViewportSize({ width, height })
      const input = await tab.page.getByRole('textbox', { name: 'Type a command' }).boundingBox()
      const output = await tab.page.locator('.xterm').boundingBox()
      const size = `${width} × ${height}`
      expect((input?.y ?? height) + (input?.height ?? 0), size).toBeLessThanOrEqual(height)
      // Five lines are left beside an announcement and the search.
      expect(output?.height, size).toBeGreaterThan(100)
    }
    await tab.context.close()
  })

  it('is not asked for while the server is suspended', async () => {
    const suspend = (path: string) => panel.asAdmin('POST', `/servers/${panel.bootstrap.server.id}/${path}`)
    await suspend('suspend')
    const tab = await openSignedIn(chromium, panel, { viewport: viewports[1], theme: 'light' })
    let requests = 0
    tab.page.on('request', (request) => void (request.url().endsWith('/websocket') && (requests += 1)))
    await tab.page.goto(`/server/${screenData.server}`)
    await tab.page.getByText('An administrator has suspended this server.').waitFor()
    // Attempts used to follow each other within two seconds.
    await tab.page.waitForTimeout(3000)
    expect(requests).toBe(0)
    await suspend('unsuspend')
    await tab.context.close()
  })
})

describe.each(viewports)('every screen on a $name, in both themes', (viewport) => {
  const appearance = { viewport, theme: 'system' } as const

  it('is there for guests', { timeout: 120_000 }, async () => {
    expect(await faultsOfAll(await openGuest(chromium, panel, appearance), guestScreens)).toEqual([])
  })

  it('is there for players', { timeout: 240_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, appearance)
    expect(await faultsOfAll(tab, playerScreens(screenData))).toEqual([])
  })

  it('is there for administrators', { timeout: 240_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, appearance, panel.bootstrap.admin)
    expect(await faultsOfAll(tab, adminScreens, 'serious')).toEqual([])
  })
})
