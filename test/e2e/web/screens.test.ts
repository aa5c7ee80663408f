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

/** Lists accessibility violations of a page, a line each. */
async function barriersOf(page: Page): Promise<string[]> {
  const { violations } = (await page.evaluate(`(() => { ${axe}; return axe.run(document) })()`)) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}

async function faultsOf({ page, problems }: Tab, screen: Screen): Promise<string[]> {
  await openScreen(page, screen)
  const [headings, overflow] = await page.evaluate(() => [
    [...document.querySelectorAll('h1')].length,
    document.documentElement.scrollWidth - innerWidth,
  ])
  return [
    ...(headings === 1 ? [] : [`${headings} first headings`]),
    ...((overflow ?? 0) > 0 ? [`${overflow} pixels wider than the window`] : []),
    ...(await barriersOf(page)),
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
    for (const screen of adminScreens) faults.push(...(await faultsOf(tab, screen)))
    expect(faults).toEqual([])
    await tab.context.close()
  })
})
