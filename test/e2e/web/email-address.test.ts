import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { eventually } from '../../support/processes.ts'
import { openPageDriver, testTimeout } from './page-driver.ts'
import { makeAccount, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'

let panel: PanelProcess
let chromium: Chromium

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  await panel.asAdmin('PATCH', '/settings', { sign_in: { verify_email: 'on' } })
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})

/** Returns the links in the mails to this address, newest first, from the outbox of the administrator. */
async function linksMailedTo(address: string, count: number): Promise<string[]> {
  const admin = await openPageDriver(chromium, panel.bootstrap.url)
  await admin.signIn(panel.bootstrap.admin)
  const links = await eventually(async () => {
    await admin.page.goto('/outbox')
    const texts = await admin.page.locator('details', { hasText: address }).allTextContents()
    const found = texts.flatMap((text) => /http:\S+\/account\/verify-email\/\w+/.exec(text)?.[0] ?? [])
    return found.length >= count ? found : null
  })
  await admin.context.close()
  return links
}

describe('the e-mail address on the account page', { timeout: testTimeout }, () => {
  it('AU-16: is pending, is cancelled or sent again, and changes with the page of the mailed link', async () => {
    const account = await makeAccount(panel, 'mover')
    const address = `new-${account.email}`
    const driver = await openPageDriver(chromium, panel.bootstrap.url)
    const { page, button } = driver
    const waiting = page.getByText('New address, not verified yet')
    const change = async () => {
      await page.getByLabel('New e-mail address').fill(address)
      await page.getByLabel('Current password').first().fill(account.password)
      await button('Change e-mail address').click()
      await waiting.waitFor()
    }
    await driver.signIn(account)
    await page.goto('/account')
    await change()
    await page.getByText(address, { exact: true }).waitFor()
    const [cancelled = ''] = await linksMailedTo(address, 1)
    await button('Cancel the change').click()
    await waiting.waitFor({ state: 'detached' })

    await page.goto(cancelled)
    await button('Verify').click()
    await page.getByText('The link does not work').waitFor()
    await page.goto('/account')
    await page.getByText(account.email, { exact: true }).waitFor()

    await change()
    await linksMailedTo(address, 2)
    await button('Send the link').click()
    await page.getByText('The link has been sent.').waitFor()
    const [link = ''] = await linksMailedTo(address, 3)
    // Signed out, the link leads over the sign-in page back to its own.
    await page.context().clearCookies()
    await page.goto(link)
    await driver.heading('Sign in').waitFor()
    await driver.enterName(account)
    await page.getByText(`You are signed in as ${account.username}`).waitFor()
    await button('Verify').click()
    await page.getByText('Your e-mail address is verified.').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Account' }).click()
    await page.getByText(address, { exact: true }).waitFor()
    expect(await waiting.count()).toBe(0)
    expect(driver.problems().filter((line) => !line.includes('400'))).toEqual([])
  })
})
