import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { stepTimeoutMs, wayToPart } from './page-driver.ts'

/** More tab stops than any page of the application has. */
const maxSteps = 120

/** Drives a page with the keyboard alone; checks that each focused element is visibly focused. */
export function keysOf(page: Page) {
  const isFocused = (target: Locator) => target.evaluate((element) => element === document.activeElement)
  const holdsFocus = (target: Locator) =>
    expect.poll(() => isFocused(target), { message: String(target), timeout: stepTimeoutMs }).toBe(true)
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
  const tabTo = async (target: Locator, back = false): Promise<void> => {
    await expect
      .poll(() => target.isEnabled({ timeout: stepTimeoutMs }), { timeout: stepTimeoutMs })
      .toBe(true)
    for (let steps = 0; !(await isFocused(target)); steps += 1) {
      if (steps === maxSteps) throw new Error(`Tab does not reach ${String(target)}.`)
      await press(back ? 'Shift+Tab' : 'Tab')
    }
    expect(await isFocusShown(page), `focus on ${String(target)}`).toBe(true)
  }
  const push = async (target: Locator): Promise<void> => {
    await tabTo(target)
    await press('Enter')
  }
  return {
    press,
    tabTo,
    holdsFocus,
    /** Goes to a button or link, and presses it. */
    push,
    /** Goes through the navigation to a part of the open server. */
    openPart: async (name: string) => {
      const { more, link } = await wayToPart(page, name)
      if (more !== null) await push(more)
      await push(link)
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor({ state: 'attached' })
      await page.getByRole('dialog', { name: 'Server pages' }).waitFor({ state: 'detached' })
    },
    /** Goes to a field, and writes in it. */
    write: async (field: Locator, text: string) => {
      await tabTo(field)
      await page.keyboard.type(text)
    },
    /** Goes to a menu's button, and through the menu to an action. */
    choose: async (button: Locator, action: string) => {
      await tabTo(button)
      await press('Enter')
      const item = page.getByRole('menuitem', { name: action, exact: true })
      await holdsFocus(page.getByRole('menuitem').first())
      while (!(await isFocused(item))) await press('ArrowDown')
      await press('Enter')
    },
    /** Jumps to a page by typing its name. */
    jumpTo: async (name: string) => {
      await press('Control+K')
      const line = page.getByRole('combobox', { name: 'Command palette' })
      await holdsFocus(line)
      await page.keyboard.type(name)
      await page.getByRole('option', { name, selected: true }).waitFor()
      await press('Enter')
      await line.waitFor({ state: 'detached' })
    },
    /** Checks that the focus stays in the dialog, however often Tab is pressed. */
    staysIn: async (window: Locator) => {
      for (let steps = 0; steps < 12; steps += 1) {
        await press('Tab')
        expect(await window.evaluate((element) => element.contains(document.activeElement))).toBe(true)
      }
    },
  }
}

/** Checks that an outline is drawn around the focused element, or around the frame it fills. */
const isFocusShown = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    for (let element = document.activeElement; element; element = element.parentElement) {
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      if (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) return true
    }
    return false
  })
