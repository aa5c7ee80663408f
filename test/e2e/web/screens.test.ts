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
  const { violations } = (await page.evaluate(`(() => { ${axe}; return axe.run(document) })()`)) as AxeResults
  return violations
    .filter(({ impact }) => impacts.indexOf(impact ?? 'minor') >= impacts.indexOf(least))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}

async function faultsOf({ page, problems }: Tab, screen: Screen, least: Impact = 'minor'): Promise<string[]> {
  await openScreen(page, screen)
  const [headings, overflow] = await page.evaluate(() => [
    [...document.querySelectorAll('h1')].length,
    document.documentElement.scrollWidth - innerWidth,
  ])
  return [
    ...(headings === 1 ? [] : [`${headings} first headings`]),
    ...((overflow ?? 0) > 0 ? [`${overflow} pixels wider than the window`] : []),
    ...(await barriersOf(page, least)),
    ...problems(),
  ].map((fault) => `${screen.name}: ${fault}`)
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
    await tab.page.getByText('Running').first().waitFor()
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
      expect(output?.height, size).toBeGreaterThan(height / 5)
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

const appearances = viewports.flatMap((viewport) =>
  themes.map((theme) => [viewport.name, theme, viewport] as const),
)

describe.each(appearances)('every screen on a %s, %s', (_name, theme, viewport) => {
  it('is there for guests', { timeout: 120_000 }, async () => {
    const tab = await openGuest(chromium, panel, { viewport, theme })
    const faults: string[] = []
    for (const screen of guestScreens) faults.push(...(await faultsOf(tab, screen)))
    expect(faults).toEqual([])
    await tab.context.close()
  })

  it('is there for players', { timeout: 240_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, { viewport, theme })
    const faults: string[] = []
    for (const screen of playerScreens(screenData)) faults.push(...(await faultsOf(tab, screen)))
    expect(faults).toEqual([])
    await tab.context.close()
  })

  it('is there for administrators', { timeout: 240_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, { viewport, theme }, panel.bootstrap.admin)
    const faults: string[] = []
    for (const screen of adminScreens) faults.push(...(await faultsOf(tab, screen, 'serious')))
    expect(faults).toEqual([])
    await tab.context.close()
  })
})
