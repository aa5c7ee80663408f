import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Chromium, Tab } from '../../support/chromium.ts'
import type { Account } from './player.ts'

/** Timeouts of one step, and of one test, on a busy machine. */
export const stepTimeoutMs = 60_000
export const testTimeout = 300_000

/** The parts of a server beside its console, for who may do everything. */
export const serverParts = [
  'Files',
  'Backups',
  'Schedules',
  'Usage',
  'Databases',
  'Network',
  'Users',
  'Activity',
  'Startup',
  'Settings',
] as const

/** Drives the application through its pages alone, without calling routes. */
export type PageDriver = ReturnType<typeof createPageDriver>

/** Opens a browser at the panel of this URL, without a session. */
export async function openPageDriver(
  chromium: Chromium,
  baseURL: string,
  options: BrowserContextOptions = {},
): Promise<PageDriver> {
  const tab = await chromium.openTab({
    baseURL,
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-US',
    acceptDownloads: true,
    ...options,
  })
  tab.page.setDefaultTimeout(stepTimeoutMs)
  return createPageDriver(tab)
}

function createPageDriver(tab: Tab) {
  const { page } = tab
  const expectedProblems: RegExp[] = []
  return {
    ...tab,
    ...locatorsOf(page),
    /** Expects problems that match this pattern. */
    expectProblem: (problem: RegExp) => expectedProblems.push(problem),
    /** Returns the problems that were not expected. */
    problems: () => tab.problems().filter((line) => !expectedProblems.some((pattern) => pattern.test(line))),
    enterName: ({ username, password }: Account) => enterName(page, username, password),
    signIn: async ({ username, password }: Account) => {
      await page.goto('/auth/login')
      await enterName(page, username, password)
      await heading(page, 'Servers').waitFor()
    },
    /** Opens a server by its card on the start page, up to its live console. */
    openServer: async (name: string) => {
      await page.goto('/')
      await page.getByRole('link', { name, exact: true }).click()
      await heading(page, 'Console').waitFor({ state: 'attached' })
    },
    /** Opens a part of the server that is open, by the navigation or, on a phone, by what stands behind "More". */
    openPart: async (name: string) => {
      const { more, link } = await wayToPart(page, name)
      await more?.click()
      await link.click()
      await heading(page, name).waitFor({ state: 'attached' })
    },
    sendCommand: async (command: string) => {
      const line = page.getByRole('textbox', { name: 'Type a command' })
      await line.fill(command)
      await line.press('Enter')
      await expect.poll(() => line.inputValue(), { timeout: stepTimeoutMs }).toBe('')
    },
    /** Opens the text of a file of the folder that is shown. */
    openFile: async (name: string) => {
      await page.getByRole('link', { name, exact: true }).click()
      await heading(page, name).waitFor()
      await locatorsOf(page).editor.waitFor()
    },
    /** Writes in place of all that is in the editor, and saves it. */
    rewriteFile: async (text: string) => {
      await locatorsOf(page).editor.fill(text)
      const unsaved = page.getByText('Unsaved changes')
      await unsaved.waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      await unsaved.waitFor({ state: 'hidden' })
    },
    /** Reads the error message of a field. */
    fieldErrorOf: async (field: Locator): Promise<string> => {
      const described = async () => (await field.getAttribute('aria-describedby')) ?? ''
      await expect.poll(described, { timeout: stepTimeoutMs }).toMatch(/-error$/)
      const id = (await described()).split(' ').at(-1)
      return page.locator(`[id="${id}"]`).innerText()
    },
    /** Chooses an action of the menu behind a button. */
    choose: async (button: string, action: string) => {
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.getByRole('menuitem', { name: action, exact: true }).click()
    },
  }
}

const heading = (page: Page, name: string): Locator =>
  page.getByRole('heading', { level: 1, name, exact: true })

/** Finds the link to a part of the open server, and the button that shows it where the navigation alone does not. */
export async function wayToPart(page: Page, name: string): Promise<{ more: Locator | null; link: Locator }> {
  const { serverNav, button, dialog } = locatorsOf(page)
  const linkIn = (place: Locator) => place.getByRole('link', { name, exact: true })
  await serverNav.getByRole('link').first().waitFor()
  const isShown = (await linkIn(serverNav).count()) > 0
  return isShown
    ? { more: null, link: linkIn(serverNav) }
    : { more: button('More'), link: linkIn(dialog('Server pages')) }
}

/** Returns locators for what every page of the application has. */
function locatorsOf(page: Page) {
  return {
    heading: (name: string) => heading(page, name),
    button: (name: string) => page.getByRole('button', { name, exact: true }),
    dialog: (name: string) => page.getByRole('dialog', { name }),
    /** The dialog that confirms what cannot be undone. */
    confirmation: (name: string) => page.getByRole('alertdialog', { name }),
    serverNav: page.getByRole('navigation', { name: 'Server pages' }),
    editor: page.getByRole('textbox', { name: 'File content' }),
    /** A toast with this text. */
    toast: (text: string) => page.locator('[aria-live=polite]').getByText(text).first(),
    /** The shown state of the open server. */
    state: (word: string) => page.getByRole('status').getByText(word, { exact: true }).first(),
    consoleShown: () => page.locator('.xterm-rows').waitFor(),
    /** Waits until a row of the terminal shows this. */
    consoleSays: (text: string | RegExp) => page.locator('.xterm-rows', { hasText: text }).waitFor(),
  }
}

async function enterName(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Username or e-mail address').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
