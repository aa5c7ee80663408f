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
  viewports,
} from './screens.ts'
import { openGuest, openSignedIn } from './appearance.ts'
import { faultsIn, prepareChecks } from './page-faults.ts'
import { startLocalhostPanel } from './panel-fixtures.ts'
import type { Account } from './player.ts'
import {
  guestOfServerScreens,
  newcomerScreens,
  seedStates,
  type StateAccounts,
  stateScreens,
} from './state-screens.ts'

let panel: PanelProcess
let chromium: Chromium
let screenData: ScreenData
let accounts: StateAccounts

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  screenData = await seedScreens(panel)
  accounts = await seedStates(panel)
})
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})

type Size = (typeof viewports)[number]

/** Opens each screen in a window of the first size, and lists what is wrong with it there and in the others. */
async function faultsOfAll(tab: Tab, screens: Screen[], sizes: readonly Size[]): Promise<string[]> {
  await prepareChecks(tab.context)
  const faults: string[] = []
  for (const screen of screens) {
    await openScreen(tab.page, screen)
    const found = [...(await faultsIn(tab.page, sizes)), ...problemsOf(tab, screen)]
    if (screen.state && !(await screen.state(tab.page).isVisible())) found.push('has changed meanwhile')
    faults.push(...found.map((fault) => `${screen.name}: ${fault}`))
  }
  await tab.context.close()
  return faults
}

const problemsOf = (tab: Tab, { expects }: Screen) => tab.problems().filter((line) => !expects?.test(line))

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

// A page is opened on a phone and on a desktop. Laptops and monitors have the layout of the desktop, whose window is
// given their sizes.
const [phone, laptop, desktop, monitor] = viewports
const openings = [
  { name: 'a phone', sizes: [phone] },
  { name: 'a desktop, a laptop and a monitor', sizes: [desktop, laptop, monitor] },
] as const

describe.each(openings)('every screen on $name, in both themes', ({ sizes }) => {
  const appearance = { viewport: sizes[0], theme: 'system' } as const

  it('is there for guests', { timeout: 120_000 }, async () => {
    expect(await faultsOfAll(await openGuest(chromium, panel, appearance), guestScreens, sizes)).toEqual([])
  })

  it('is there for players', { timeout: 600_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, appearance)
    expect(await faultsOfAll(tab, playerScreens(screenData), sizes)).toEqual([])
  })

  it('is there for administrators', { timeout: 600_000 }, async () => {
    const tab = await openSignedIn(chromium, panel, appearance, panel.bootstrap.admin)
    expect(await faultsOfAll(tab, adminScreens, sizes)).toEqual([])
  })

  it('is there in states that pass', { timeout: 600_000 }, async () => {
    const look = async (screens: Screen[], account?: Pick<Account, 'username' | 'password'>) => {
      const tab = await openSignedIn(chromium, panel, appearance, account)
      expect(await faultsOfAll(tab, screens, sizes)).toEqual([])
    }
    await look(newcomerScreens, accounts.newcomer)
    await look(guestOfServerScreens(screenData), accounts.guestOfServer)
    await look(stateScreens(screenData))
  })
})
