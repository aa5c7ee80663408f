import { Client } from 'pg'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startChromium } from '../support/chromium.ts'
import { doubleConsole, printSteadily } from '../support/console-double.ts'
import { startPanel } from './panel.ts'
import { benchPassword, type Size } from './seed.ts'
import { decimal, printHeading } from './table.ts'

/** Milliseconds from the start of the navigation until the first named server is painted, and KiB over the wire. */
type Load = { milliseconds: number; kib: number }
type PageCosts = { cold: Load; warm: Load; tabSwitchMs: number; framesPerSecond: number }

/** 4G as developers' tools of browsers have it: 1.6 Mbit/s and 150 ms. */
const network = { latency: 150, downloadThroughput: 200 * 1024, uploadThroughput: 94 * 1024 }
const ownedServers = 100
const [rounds, warmVisits] = [5, 3]

/** Measures the home page of a user with 100 servers over a slow network, and the change from one tab of a server to another. */
export async function measurePages(url: string, size: Size): Promise<PageCosts> {
  await giveServers(url, size)
  const panel = await startPanel({ url, isMeasured: false, isOwnAddress: true })
  const chromium = await startChromium()
  try {
    const baseURL = `http://127.0.0.1:${panel.port}`
    const signedIn = await signIn(chromium.browser, baseURL)
    const loads = { cold: [] as Load[], warm: [] as Load[] }
    for (let round = 0; round < rounds; round += 1) {
      // Requests of a service worker are not slowed down.
      const context = await chromium.browser.newContext({
        baseURL,
        storageState: signedIn,
        serviceWorkers: 'block',
      })
      const page = await context.newPage()
      await throttle(context, page)
      await page.addInitScript(noteFirstServer)
      loads.cold.push(await measureHome(page))
      // The browser keeps compiled code at the second visit and uses it from the third on.
      for (let visit = 0; visit < warmVisits; visit += 1) {
        await page.waitForLoadState('networkidle')
        loads.warm.push(await measureHome(page))
      }
      await context.close()
    }
    const context = await chromium.browser.newContext({ baseURL, storageState: signedIn })
    const tabSwitchMs = await measureTabSwitch(await context.newPage())
    const framesPerSecond = await measureConsole(await context.newPage())
    return { cold: medianOf(loads.cold), warm: medianOf(loads.warm), tabSwitchMs, framesPerSecond }
  } finally {
    await chromium.close()
    await panel.stop()
  }
}

const medianOf = (loads: Load[]): Load =>
  loads.toSorted((a, b) => a.milliseconds - b.milliseconds)[Math.floor(loads.length / 2)] as Load

/** Gives the first user as many servers as the figure is of. */
async function giveServers(url: string, { users }: Size): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('delete from subusers where user_id = 1')
  await client.query(
    `update servers set owner_id = 1 where id in (
      select id from servers where owner_id = 2 order by id
      limit greatest(0, $1 - (select count(*) from servers where owner_id = 1)))`,
    [ownedServers],
  )
  if (users < 2) throw new Error('There is no second user.')
  await client.end()
}

async function signIn(browser: Browser, baseURL: string) {
  const context = await browser.newContext({ baseURL })
  const page = await context.newPage()
  await page.goto('/auth/login')
  await page.getByLabel('Username or e-mail address').fill('user1')
  await page.getByLabel('Password', { exact: true }).fill(benchPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

async function throttle(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', { offline: false, ...network })
}

type Noted = { firstServerAt?: number }

/** Notes in the page itself when the first server was painted: asking from outside takes time of the page. */
function noteFirstServer(): void {
  const observer = new MutationObserver(() => {
    if (!document.querySelector('a[href^="/server/"]')) return
    observer.disconnect()
    // A task after a frame begins when the frame is painted.
    requestAnimationFrame(() => setTimeout(() => ((globalThis as Noted).firstServerAt = performance.now())))
  })
  observer.observe(document, { childList: true, subtree: true })
}

const firstServer = (page: Page) => page.locator('a[href^="/server/"]').first()

async function measureHome(page: Page): Promise<Load> {
  let bytes = 0
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto('/', { waitUntil: 'commit' })
  const noted = await page.waitForFunction(() => (globalThis as Noted).firstServerAt, null, { polling: 100 })
  const milliseconds = (await noted.jsonValue()) as number
  await session.detach()
  return { milliseconds, kib: bytes / 1024 }
}

/** Returns the milliseconds of the page's own thread that a change of tab takes, once both were open. */
async function measureTabSwitch(page: Page): Promise<number> {
  await page.goto('/')
  await firstServer(page).click()
  const nav = page.getByRole('navigation', { name: 'Server pages' })
  const open = async (name: string) => {
    await nav.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
  }
  for (const name of ['Backups', 'Schedules', 'Backups', 'Schedules']) await open(name)
  // The first visit of a browser loads the code of all pages for the time without the panel.
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true))
  await page.waitForLoadState('networkidle')
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const taskSeconds = async () =>
    (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')
      ?.value ?? 0
  const before = await taskSeconds()
  const switches = ['Backups', 'Schedules', 'Backups', 'Schedules', 'Backups', 'Schedules']
  for (const name of switches) await open(name)
  return ((await taskSeconds()) - before) * (1000 / switches.length)
}

/** Returns the frames per second of a console that gets 5,000 lines a second, while it searches and shows warnings only. */
async function measureConsole(page: Page): Promise<number> {
  await doubleConsole(page)
  await page.goto('/')
  await firstServer(page).click()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Find in the console' }).click()
  await page.getByRole('textbox', { name: 'Find in the console' }).fill('Steve')
  await page.getByRole('button', { name: 'Filter by level' }).click()
  await page.getByRole('button', { name: /^Warnings/ }).click()
  return (await printSteadily(page, { linesPerSecond: 5000, seconds: 4 })).framesPerSecond
}

/** Prints the costs of pages. */
export function printPages({ cold, warm, tabSwitchMs, framesPerSecond }: PageCosts): void {
  printHeading(`the home page with ${ownedServers} servers at 200 KB/s and 150 ms`)
  const line = (name: string, { milliseconds, kib }: Load, target: number) =>
    console.log(
      `${name}: first server after ${decimal(milliseconds, 0)} ms, ${decimal(kib, 0)} KiB (target: ${target})`,
    )
  line('cold', cold, 2000)
  line('warm', warm, 500)
  console.log(`change of tab in a server: ${decimal(tabSwitchMs, 0)} ms of the page's thread (target: 100)`)
  console.log(
    `console with 5,000 lines a second, search and filter: ${decimal(framesPerSecond, 0)} frames a second`,
  )
}
