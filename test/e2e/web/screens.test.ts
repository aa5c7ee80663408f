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
import type { Account } from './player.ts'
import { guestOfServerScreens, newcomerScreens, seedStates, stateScreens } from './state-screens.ts'

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

/** Waits until the whole page has the colours of the theme: what inherits a colour follows one after the other. */
async function untilThemeIs(page: Page, theme: string): Promise<void> {
  await page.waitForFunction((name) => document.documentElement.dataset.theme === name, theme)
  await page.evaluate(async () => {
    const isEnding = ({ effect }: Animation) => effect?.getComputedTiming().endTime !== Infinity
    for (let quietFrames = 0; quietFrames < 5;) {
      await new Promise(requestAnimationFrame)
      const ending = document.getAnimations().filter(isEnding)
      quietFrames = ending.length === 0 ? quietFrames + 1 : 0
      await Promise.allSettled(ending.map(({ finished }) => finished))
    }
  })
}

/** Lists what is wrong with the layout of a page, on wide windows of each size. */
async function layoutFaultsOf(page: Page): Promise<string[]> {
  const opened = page.viewportSize()
  const sizes = opened === null || opened.width < 1000 ? [opened] : wideViewports
  const faults: string[] = []
  for (const size of sizes) {
    if (size !== null && size !== opened) await page.setViewportSize(size)
    // What follows the size of the window is laid out in the frame after the next.
    const [headings, overflow] = await page.evaluate(async () => {
      for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame)
      return [[...document.querySelectorAll('h1')].length, document.documentElement.scrollWidth - innerWidth]
    })
    const where = `at ${size?.width} pixels`
    if (headings !== 1) faults.push(`${headings} first headings ${where}`)
    if ((overflow ?? 0) > 0) faults.push(`${overflow} pixels wider than the window ${where}`)
  }
  if (opened !== null) await page.setViewportSize(opened)
  return faults
}

/** Lists what is wrong with the layout of a page, and its accessibility violations in one theme after the other. */
async function faultsOf({ page, problems }: Tab, screen: Screen, least: Impact): Promise<string[]> {
  await openScreen(page, screen)
  const faults = await layoutFaultsOf(page)
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await untilThemeIs(page, theme)
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
  it('is there with three requests for data and that of the bell, however many servers it shows', async () => {
    const tab = await openSignedIn(chromium, panel, { viewport: viewports[1], theme: 'light' })
    // A server that starts is asked for again, at the same address.
    const requests = new Set<string>()
    tab.page.on('request', (request) => {
      // The bell asks once the page has nothing else to do.
      if (/^\/(api|account|auth)\b(?!.*\/notifications$)/.test(new URL(request.url()).pathname))
        requests.add(request.url())
    })
    await tab.page.goto('/')
    await tab.page.getByText('Running').filter({ visible: true }).first().waitFor()
    expect([...requests].map((url) => new URL(url).pathname).toSorted()).toEqual([
      '/api/client/account/servers/folders',
      '/api/client/servers',
      '/api/client/servers/resources',
    ])
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
      const size = `${width} × ${height}`
      const input = tab.page.getByRole('textbox', { name: 'Type a command' })
      const bottomOfInput = async () => {
        const box = await input.boundingBox()
        return (box?.y ?? height) + (box?.height ?? 0)
      }
      // The page is laid out anew when the window has another width.
      await expect.poll(bottomOfInput, { message: size }).toBeLessThanOrEqual(height)
      // Five lines are left beside an announcement and the search.
      expect((await tab.page.locator('.xterm').boundingBox())?.height, size).toBeGreaterThan(100)
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

describe('states that pass, on a phone, in both themes', () => {
  const appearance = { viewport: viewports[0], theme: 'system' } as const

  it('are shown to players and guests of a server', { timeout: 240_000 }, async () => {
    const { newcomer, guestOfServer } = await seedStates(panel)
    const as = (account?: Pick<Account, 'username' | 'password'>) =>
      openSignedIn(chromium, panel, appearance, account)
    expect(await faultsOfAll(await as(newcomer), newcomerScreens)).toEqual([])
    expect(await faultsOfAll(await as(guestOfServer), guestOfServerScreens(screenData))).toEqual([])
    // Requests that fail are what the others show.
    const states = stateScreens(panel, screenData).filter(
      ({ name }) => !/-(error|offline|refused|unreachable)$/.test(name),
    )
    expect(await faultsOfAll(await as(), states)).toEqual([])
  })
})

// The windows of laptops and monitors have the layout of the desktop's, which is resized to theirs on each screen.
const [phone, laptop, desktop, monitor] = viewports
const wideViewports = [laptop, desktop, monitor]
describe.each([phone, desktop])('every screen on a $name, in both themes', (viewport) => {
  const appearance = { viewport, theme: 'system' } as const

  it('is there for guests', { timeout: 120_000 }, async () => {
    expect(await faultsOfAll(await openGuest(chromium, panel, appearance), guestScreens)).toEqual([])
  })

  it('is there for players', { timeout: 600_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, appearance)
    expect(await faultsOfAll(tab, playerScreens(screenData))).toEqual([])
  })

  it('is there for administrators', { timeout: 600_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, appearance, panel.bootstrap.admin)
    expect(await faultsOfAll(tab, adminScreens, 'minor')).toEqual([])
  })
})
