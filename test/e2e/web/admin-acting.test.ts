import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'
import { makeAccount, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'

let panel: PanelProcess
let chromium: Chromium
let driver: PageDriver

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
afterEach(async () => {
  expect(driver.problems()).toEqual([])
  await driver.context.close()
})

describe('an administrator', { timeout: testTimeout }, () => {
  it('acts for a user, who stays marked on every page and whose account stays, and leaves', async () => {
    const account = await makeAccount(panel, 'customer')
    driver = await openPageDriver(chromium, panel.bootstrap.url)
    const { page, button, heading, confirmation } = driver
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/users')
    await page.getByRole('searchbox').fill(account.email)
    await page.getByRole('link', { name: account.username }).click()
    const parts = page.getByRole('navigation', { name: 'Parts of the user' })
    await parts.getByRole('link', { name: 'Manage' }).click()
    await button('Act for this user').click()
    await confirmation(`Act for ${account.username}?`)
      .getByRole('button', { name: 'Act for this user' })
      .click()

    await heading('Servers').waitFor()
    const bar = page.getByRole('complementary', { name: 'Acting for a user' })
    await bar.getByText(`${panel.bootstrap.admin.username} acts for ${account.username}.`).waitFor()
    expect(await page.getByRole('link', { name: 'Administration', exact: true }).count()).toBe(0)

    await page.goto('/account')
    await page.getByText(`You cannot change the account of ${account.username}`).waitFor()
    await page.getByLabel('New e-mail address').waitFor()
    expect(await page.getByLabel('New e-mail address').isDisabled()).toBe(true)
    await page.goto('/docs')
    await bar.waitFor()

    await bar.getByRole('button', { name: 'Leave' }).click()
    await heading(account.username).waitFor()
    await button('Act for this user').waitFor()
    await bar.waitFor({ state: 'detached' })
    await page.goto('/admin/activity')
    await page.getByRole('searchbox').fill('admin:user')
    await page.getByRole('row').filter({ hasText: account.username }).first().waitFor()
  })

  it('is not offered to act for themselves', async () => {
    driver = await openPageDriver(chromium, panel.bootstrap.url)
    const { page, button } = driver
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/users/1/manage')
    await button('Delete user').waitFor()
    expect(await button('Act for this user').count()).toBe(0)
  })
})
