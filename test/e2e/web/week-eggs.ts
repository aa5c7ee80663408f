import { expect } from 'vitest'
import { eventually } from '../../support/processes.ts'
import { listOf, pick, serverName, type Week } from './week.ts'

/** Serves the Demo egg under another name: the daemon of these tests runs no others. */
async function publishEgg({ place: { panel, eggs }, egg }: Week, startup: string): Promise<void> {
  const nests = await panel.asAdmin('GET', '/nests?include=eggs')
  const all = nests.body.data.flatMap(({ attributes }: any) => attributes.relationships.eggs.data)
  const { id, nest } = all.find(({ attributes }: any) => attributes.name === 'Demo').attributes
  const { body } = await panel.asAdmin('GET', `/nests/${nest}/eggs/${id}/export`)
  const meta = { ...body.meta, update_url: null }
  eggs.documents.set('/realm.json', JSON.stringify({ ...body, meta, name: egg, startup }))
}

const firstCommand = 'node server.mjs --port {{SERVER_PORT}} --motd "{{MOTD}}"'

/** Imports an egg by its URL, after what would change has been shown. */
export async function importEggs(week: Week): Promise<void> {
  const { egg } = week
  const { page, heading, dialog } = week.driver
  const { eggs } = week.place
  await publishEgg(week, firstCommand)
  await page.goto('/admin/nests')
  await page
    .getByRole('button', { name: /^Import eggs into/ })
    .first()
    .click()
  const form = dialog('Import eggs into')
  await form.getByLabel('URLs').fill(`${eggs.origin}/realm.json\n${eggs.origin}/missing.json`)
  await form.getByRole('button', { name: 'Compare', exact: true }).click()
  await form.getByText('answered with status 404').waitFor()
  await form.getByRole('button', { name: 'Import', exact: true }).click()
  await form.getByText(`${egg} has been added.`).waitFor()
  await form.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('link', { name: egg }).click()
  await heading(egg).waitFor()
}

/** Makes ten servers with one form, from the page of the egg. */
export async function makeTenServers(week: Week): Promise<void> {
  const { page, button, heading } = week.driver
  await page.getByRole('link', { name: 'New server from this' }).click()
  await heading('Create server').waitFor()
  await page.getByLabel('Name', { exact: true }).fill(`Realm ${week.tag}`)
  await pick(week.driver, 'Owner', week.customer.username)
  await pick(week.driver, 'Location', 'local')
  await page.getByLabel('Memory', { exact: true }).fill('0.25')
  await page.getByLabel('Disk space', { exact: true }).fill('0.25')
  await expect.poll(() => page.getByLabel('Start command').inputValue()).toBe(firstCommand)
  const count = page.getByLabel('Number of servers')
  await count.fill('51')
  await button('Create server').click()
  expect(await week.driver.fieldErrorOf(count)).toBe('From 1 to 50.')
  await count.fill('10')
  await button('Create server').click()
  await page.getByText('10 of 10 servers').waitFor()
  expect(await page.getByRole('listitem').filter({ hasText: 'Done' }).count()).toBe(10)
  await page.getByRole('link', { name: 'Show them in the list' }).click()
  await page.getByRole('link', { name: serverName(week, 10), exact: true }).waitFor()
  await page.goto(listOf(week, '&status=normal'))
  await eventually(async () => {
    await page.reload()
    await page.getByText('10 in total.').waitFor({ timeout: 2000 })
    return true
  }, 90)
}

/** The update of the egg shows what changes before it does. */
export async function updateEgg(week: Week): Promise<void> {
  const { egg } = week
  const { page, button, heading, dialog, toast } = week.driver
  const { origin } = week.place.eggs
  await publishEgg(week, `${firstCommand} --quiet`)
  await page.goto('/admin/nests')
  await page.getByRole('link', { name: egg }).click()
  await heading(egg).waitFor()
  await button('Check for an update').click()
  const update = dialog(`Update ${egg}`)
  await update.getByText(/--quiet/).waitFor()
  await update.getByText('Servers with this egg: 10').waitFor()
  await update.getByRole('button', { name: 'Update egg' }).click()
  await toast(`${egg} has been updated.`).waitFor()
  await button('Check for an update').click()
  await update.getByText('This egg is up to date.').waitFor()
  await page.keyboard.press('Escape')
  await button('Duplicate').click()
  await dialog(`Duplicate ${egg}`).getByRole('button', { name: 'Duplicate' }).click()
  await heading(`${egg} (copy)`).waitFor()
  await page.goto('/admin/activity')
  await page.getByText(`Fetched an egg from ${origin}/realm.json`).first().waitFor()
}
