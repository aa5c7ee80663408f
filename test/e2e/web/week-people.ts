import { expect } from 'vitest'
import { makeAccount } from './panel-fixtures.ts'
import { openPlayer } from './player.ts'
import { serverName, type Week } from './week.ts'

/** A customer is suspended and let in again, loses the second factor, and is helped by acting for them. */
export async function helpCustomer(week: Week): Promise<void> {
  const { customer, customerId, driver } = week
  const { panel, chromium } = week.place
  const { page, button, confirmation, toast } = driver
  const player = await openPlayer(chromium, panel.bootstrap.url)
  expect(await player.signIn(customer)).toBe('signed in')
  await player.turnOnSecondFactor(customer)
  await page.goto('/admin/users')
  await page.getByRole('searchbox').fill(customer.email)
  await page.getByRole('link', { name: customer.username }).click()
  await page
    .getByRole('navigation', { name: 'Parts of the user' })
    .getByRole('link', { name: 'Manage' })
    .click()
  await button('Suspend sign-in').click()
  await confirmation('Suspend sign-in').getByRole('button', { name: 'Suspend sign-in' }).click()
  await page.getByText('Suspended', { exact: true }).waitFor()
  expect(await player.signIn(customer)).toBe('refused')
  await button('Allow sign-in again').click()
  await button('Suspend sign-in').waitFor()
  expect(await player.signIn(customer)).toBe('asked for a code')

  await button('Switch off the second factor').click()
  const sure = confirmation('Switch off the second factor')
  await sure.getByRole('textbox').fill(customer.username)
  await sure.getByRole('button', { name: 'Switch off the second factor' }).click()
  await toast('The second factor is off.').waitFor()
  expect(await player.signIn(customer)).toBe('signed in')
  await player.context.close()
  await actForCustomer(week, `/admin/users/${customerId}/manage`)
}

async function actForCustomer(week: Week, userPage: string): Promise<void> {
  const { customer, driver } = week
  const { page, button, heading, confirmation } = driver
  const name = serverName(week, 3)
  await page.goto(userPage)
  await button('Act for this user').click()
  const asked = confirmation(`Act for ${customer.username}?`)
  await asked.getByRole('button', { name: 'Act for this user' }).click()
  await heading('Servers').waitFor()
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill(`${name} renamed`)
  await button('Save').first().click()
  await page.getByText(`${name} renamed`).first().waitFor()
  const bar = page.getByRole('complementary', { name: 'Acting for a user' })
  await bar.getByRole('button', { name: 'Leave' }).click()
  await heading(customer.username).waitFor()
}

async function makeRole({ driver }: Week, name: string, level: string, needsSecondFactor = false) {
  const { page, button, dialog } = driver
  await page.goto('/admin/roles')
  await button('Create role').first().click()
  const form = dialog('Create role')
  await form.getByLabel('Name', { exact: true }).fill(name)
  if (needsSecondFactor) await form.getByRole('switch').first().click()
  await form.getByRole('radio', { name: level, exact: true }).check()
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row').filter({ hasText: name }).waitFor()
}

/** A helper sees servers only, and is refused elsewhere, also by the API. */
export async function hireHelper(week: Week): Promise<void> {
  const { page, button, toast } = week.driver
  const { panel, spare } = week.place
  const role = `Support ${week.tag}`
  await makeRole(week, role, 'Servers: Read')
  const account = await makeAccount(panel, 'helper')
  await page.goto('/admin/users')
  await page.getByRole('searchbox').fill(account.email)
  await page.getByRole('link', { name: account.username }).click()
  await page.getByLabel('Role').selectOption(role)
  await button('Save').click()
  await toast('Saved.').waitFor()

  const helper = await week.place.sitDown(account)
  await helper.page.goto('/admin')
  const nav = helper.page.getByRole('navigation', { name: 'Administration pages' })
  await nav.getByRole('link').first().waitFor()
  expect(await nav.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Servers'])
  await helper.page.goto('/admin/servers')
  await helper.page.getByRole('link', { name: serverName(week, 10), exact: true }).waitFor()
  expect(await helper.page.getByRole('link', { name: 'Create server' }).count()).toBe(0)
  await helper.page.goto(`/admin/nodes/${spare.id}`)
  await helper.heading('Not found, or you do not have access.').waitFor({ state: 'attached' })
  const statuses = await helper.page.evaluate(
    async (paths) => Promise.all(paths.map(async (path) => (await fetch(`/api/application/${path}`)).status)),
    ['servers', 'nodes', 'users', 'activity', 'settings', 'jobs', 'roles'],
  )
  expect(statuses).toEqual([200, 403, 403, 403, 403, 403, 403])
}

/** A setting is tested and changed, and two-factor authentication is demanded of a role. */
export async function settlePanel(week: Week): Promise<void> {
  const { page, button, toast } = week.driver
  await page.goto('/admin/settings/mail')
  await button('Send a test mail').click()
  await page.getByText('The test succeeded.').waitFor()
  await page.getByText(/was stored in the outbox/).waitFor()
  await page.goto('/admin/settings/trash')
  const days = page.getByLabel('Days after which files in the trash are deleted.')
  await days.fill((await days.inputValue()) === '8' ? '9' : '8')
  await button('Save').click()
  await toast('Saved.').waitFor()
  await makeRole(week, `Billing ${week.tag}`, 'Users: Read', true)
  await page
    .getByRole('row')
    .filter({ hasText: `Billing ${week.tag}` })
    .getByText('Required')
    .waitFor()
}
