import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type Chromium, startChromium, type Tab } from '../../support/chromium.ts'
import { doubleConsole, printLines, printSteadily } from '../../support/console-double.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { openSignedIn } from './appearance.ts'
import { startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import { testTimeout } from './page-driver.ts'

let panel: PanelProcess
let chromium: Chromium
let tab: Tab
let page: Page

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  tab = await openSignedIn(chromium, panel, { viewport: { width: 1366, height: 650 }, theme: 'light' })
  page = tab.page
  await doubleConsole(page)
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})

beforeEach(async () => {
  await page.goto(`/server/${panel.bootstrap.server.identifier}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.xterm-screen').waitFor()
})

const button = (name: string | RegExp) => page.getByRole('button', { name })
/** What the terminal shows. */
const shown = () => page.locator('.xterm-rows').innerText()
const shows = (text: string) => expect.poll(shown, { timeout: 20_000 }).toContain(text)

describe('the console', { timeout: testTimeout }, () => {
  it('shows the levels that are chosen, and goes from error to error', async () => {
    await printLines(page, [
      '[12:00:00 INFO]: all is well',
      '[12:00:00 WARN]: slow',
      '[12:00:00 ERROR]: first failure',
      ...Array.from({ length: 200 }, (_, at) => `[12:00:00 INFO]: line ${at}`),
      '[12:00:00 ERROR]: second failure',
      ...Array.from({ length: 200 }, (_, at) => `[12:00:00 INFO]: later line ${at}`),
    ])
    await shows('later line 199')
    await button('Filter by level').click()
    await button('Previous error').click()
    await shows('second failure')
    await button('Previous error').click()
    await shows('first failure')
    await button('Next error').click()
    await shows('second failure')
    await button(/^Info/).click()
    await shows('slow')
    expect(await shown()).not.toContain('later line')
    await button('Close filter').click()
    await shows('later line 199')
    expect(tab.problems()).toEqual([])
  })

  it('offers what helps with a problem, until the server starts again', async () => {
    await printLines(page, [
      '[20:44:31 WARN]: **** FAILED TO BIND TO PORT!',
      '[Pterodactyl Daemon]: ---------- Detected server process in a crashed state! ----------',
    ])
    const notice = page.getByRole('status', { name: 'The port is in use' })
    await notice.waitFor()
    await notice.getByRole('link', { name: 'Open network' }).waitFor()
    await printLines(page, ['container@pterodactyl~ Server marked as starting...'])
    await notice.waitFor({ state: 'detached' })
    await printLines(page, ['This crash report has been saved to: /home/container/crash-reports/a.txt'])
    await page.getByRole('link', { name: 'Open the report' }).click()
    await page.waitForURL(/files\/edit\?file=.*crash-reports/)
  })

  it('asks whether the EULA is accepted', async () => {
    await printLines(page, ['[20:41:12 INFO]: You need to agree to the EULA in order to run the server.'])
    await page.getByRole('status', { name: 'The Minecraft EULA is not accepted' }).waitFor()
    const dialog = page.getByRole('dialog', { name: 'Accept the Minecraft EULA?' })
    if (!(await dialog.isVisible())) await button('Accept the EULA').click()
    await dialog.waitFor()
  })

  it('opens the file that a line names', async () => {
    await printLines(page, ['Loading server.properties now'])
    await shows('Loading server.properties')
    const row = page.locator('.xterm-rows > div', { hasText: 'Loading server.properties' })
    const { x, y, height } = (await row.boundingBox()) ?? { x: 0, y: 0, height: 0 }
    // Somewhere within the name of the file.
    await page.mouse.move(x + 100, y + height / 2)
    await page.mouse.move(x + 104, y + height / 2)
    await expect.poll(() => page.locator('.xterm-cursor-pointer').count()).toBe(1)
    await page.mouse.click(x + 104, y + height / 2)
    await page.waitForURL(/files\/edit\?file=%2Fserver\.properties/)
  })

  it('saves what it shows as a file', async () => {
    await printLines(page, ['[12:00:00 INFO]: a line to keep', '[12:00:01 INFO]: and the next one'])
    await shows('and the next one')
    const saving = page.waitForEvent('download')
    await button('More actions').click()
    await page.getByRole('menuitem', { name: 'Download log' }).click()
    const log = await readFile(await (await saving).path(), 'utf8')
    expect(log).toContain('[12:00:00 INFO]: a line to keep\n[12:00:01 INFO]: and the next one\n')
    // Colours are of the terminal.
    expect(log).not.toContain('\u001B')
  })

  it('keeps commands under a name, and puts them into its input', async () => {
    await button('Commands').click()
    const dialog = page.getByRole('dialog', { name: 'Commands' })
    await dialog.getByRole('button', { name: 'Save a command' }).click()
    await dialog.getByLabel('Name').fill('Good morning')
    await dialog.getByLabel('Command', { exact: true }).fill('time set day')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: /^Good morning/ }).click()
    await dialog.waitFor({ state: 'detached' })
    const input = page.getByRole('textbox', { name: 'Type a command' })
    await expect.poll(() => input.inputValue()).toBe('time set day')
    await expect.poll(() => input.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  it('shows the last of 5,000 lines a second, with find, filter and highlighting too', async () => {
    const print = async () => {
      await printSteadily(page, { linesPerSecond: 5000, seconds: 4 })
      await shows('That was the last line.')
    }
    await print()
    await page.getByRole('button', { name: 'Find in the console' }).click()
    await page.getByRole('textbox', { name: 'Find in the console' }).fill('Steve')
    await print()
    await button('Filter by level').click()
    await button(/^Warnings/).click()
    await print()
  })
})
