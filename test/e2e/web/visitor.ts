import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Chromium, Tab } from '../../support/chromium.ts'
import type { Account } from './player.ts'

/** Milliseconds for one step, and for one test, on a machine that has much else to do. */
export const patience = 60_000
export const testTimeout = 300_000

/** A person who uses the application: by what the pages show, without a word to the routes behind them. */
export type Visitor = ReturnType<typeof stepsOf>

/** A browser at the panel of that address, without a session. */
export async function openVisitor(chromium: Chromium, baseURL: string): Promise<Visitor> {
  const tab = await chromium.openTab({
    baseURL,
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-US',
    acceptDownloads: true,
  })
  tab.page.setDefaultTimeout(patience)
  return stepsOf(tab)
}

function stepsOf(tab: Tab) {
  const { page } = tab
  const provoked: RegExp[] = []
  return {
    ...tab,
    ...partsOf(page),
    /** From now on such troubles are what the test is about. */
    provoke: (trouble: RegExp) => provoked.push(trouble),
    /** What went wrong that nobody provoked. */
    troubles: () => tab.troubles().filter((line) => !provoked.some((pattern) => pattern.test(line))),
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
    /** Opens a part of the server that is open. */
    openPart: async (name: string) => {
      await partsOf(page).serverNav.getByRole('link', { name, exact: true }).click()
      await heading(page, name).waitFor({ state: 'attached' })
    },
    sendCommand: async (command: string) => {
      const line = page.getByRole('textbox', { name: 'Type a command' })
      await line.fill(command)
      await line.press('Enter')
      await expect.poll(() => line.inputValue(), { timeout: patience }).toBe('')
    },
    /** Opens the text of a file of the folder that is shown. */
    openFile: async (name: string) => {
      await page.getByRole('link', { name, exact: true }).click()
      await heading(page, name).waitFor()
      await partsOf(page).editor.waitFor()
    },
    /** Writes in place of all that is in the editor, and saves it. */
    rewriteFile: async (text: string) => {
      await partsOf(page).editor.fill(text)
      const unsaved = page.getByText('You have changes that are not saved.')
      await unsaved.waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      await unsaved.waitFor({ state: 'hidden' })
    },
    /** Why a field was refused, as is said beside it. */
    complaintOf: async (field: Locator): Promise<string> => {
      const described = async () => (await field.getAttribute('aria-describedby')) ?? ''
      await expect.poll(described, { timeout: patience }).toMatch(/-error$/)
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

/** What people find on every page of the application. */
function partsOf(page: Page) {
  return {
    heading: (name: string) => heading(page, name),
    button: (name: string) => page.getByRole('button', { name, exact: true }),
    dialog: (name: string) => page.getByRole('dialog', { name }),
    /** Asks before something that cannot be undone. */
    question: (name: string) => page.getByRole('alertdialog', { name }),
    serverNav: page.getByRole('navigation', { name: 'Parts of the server' }),
    editor: page.getByRole('textbox', { name: 'Content of the file' }),
    /** A message that comes and goes by itself. */
    said: (text: string) => page.locator('[aria-live=polite]').getByText(text).first(),
    /** How the server is that is open, in a word. */
    state: (word: string) => page.getByRole('status').getByText(word, { exact: true }).first(),
    consoleShown: () => page.locator('.xterm-rows').waitFor(),
    /** The rows of the terminal, once one of them says this. */
    consoleSays: (text: string | RegExp) => page.locator('.xterm-rows', { hasText: text }).waitFor(),
  }
}

async function enterName(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Username or e-mail address').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
