import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { makeAccount, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'

let panel: PanelProcess
let chromium: Chromium
const drivers: PageDriver[] = []

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
afterEach(async () => {
  const opened = drivers.splice(0)
  expect(opened.flatMap(({ problems }) => problems())).toEqual([])
  await Promise.all(opened.map(({ context }) => context.close()))
})

async function sitDown(): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url)
  drivers.push(driver)
  return driver
}

const tag = () => randomUUID().slice(0, 8)

describe('an administrator', { timeout: testTimeout }, () => {
  it('adds a location and a node, gives it allocations, and gets the command that configures it', async () => {
    const name = `heron-${tag()}`
    const { page, button, heading, dialog, confirmation, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/locations')
    await button('Create location').click()
    const location = dialog('Create location')
    await location.getByLabel('Short name').fill(name)
    await location.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row').filter({ hasText: name }).waitFor()

    await page.goto('/admin/nodes/new')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('combobox', { name: 'Location' }).fill(name)
    await page.getByRole('option', { name }).click()
    await page.getByLabel('Domain or IP address').fill('heron.nodes.example')
    await button('Create node').click()
    await heading(name).waitFor()
    await button('Create a key for one hour').click()
    await page.getByText(/wings configure --panel-url \S+ --token ptla_\S+ --node \d+/).waitFor()

    const parts = page.getByRole('navigation', { name: 'Parts of the node' })
    await parts.getByRole('link', { name: 'Allocations' }).click()
    await page.getByLabel('IP addresses').fill('203.0.113.7')
    await page.getByLabel('Ports', { exact: true }).fill('80')
    await button('Add allocations').click()
    await page.getByRole('alert').first().waitFor()
    await page.getByLabel('Ports', { exact: true }).fill('25565-25567, 27015')
    await button('Add allocations').click()
    await button('Remove 203.0.113.7:27015').click()
    await button('Remove 203.0.113.7:27015').waitFor({ state: 'detached' })

    await parts.getByRole('link', { name: 'Manage' }).click()
    await button('Delete node').click()
    const sure = confirmation(`Delete “${name}”?`)
    await sure.getByRole('textbox').fill(name)
    await sure.getByRole('button', { name: 'Delete node' }).click()
    await heading('Nodes').waitFor()
  })

  it('makes a role that sees servers only, and its holder sees nothing else', async () => {
    const role = `Support ${tag()}`
    const account = await makeAccount(panel, 'helper')
    const { page, button, heading, dialog, toast, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/roles')
    await button('Create role').first().click()
    const form = dialog('Create role')
    await form.getByLabel('Name', { exact: true }).fill(role)
    await form.getByRole('radio', { name: 'Servers: Read', exact: true }).check()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row').filter({ hasText: role }).waitFor()

    await page.goto('/admin/users')
    await page.getByRole('searchbox').fill(account.email)
    await page.getByRole('link', { name: account.username }).click()
    await heading(account.username).waitFor()
    await page.getByLabel('Role', { exact: true }).selectOption(role)
    await button('Save').click()
    await toast('Saved.').waitFor()

    const helper = await sitDown()
    await helper.signIn(account)
    await helper.page.getByRole('link', { name: 'Administration', exact: true }).click()
    const nav = helper.page.getByRole('navigation', { name: 'Administration pages' })
    await nav.getByRole('link').first().waitFor()
    expect(await nav.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Servers'])
    await nav.getByRole('link', { name: 'Servers' }).click()
    await helper.page.getByRole('link', { name: 'Demo server', exact: true }).click()
    await helper.heading('Demo server').waitFor()
    await helper.page.getByText('At a glance').waitFor()
    expect(await helper.page.getByRole('button', { name: 'Save' }).count()).toBe(0)
    await helper.page.goto('/admin/nodes')
    await helper.heading('Not found, or you do not have access.').waitFor({ state: 'attached' })
  })

  it('makes a mount for an egg and a node, gives it to a server, takes it, and deletes it', async () => {
    const name = `Maps ${tag()}`
    const { nest, egg, node, name: server } = (await panel.asAdmin('GET', '/servers/1')).body.attributes
    const eggName = (await panel.asAdmin('GET', `/nests/${nest}/eggs/${egg}`)).body.attributes.name
    const nodeName = (await panel.asAdmin('GET', `/nodes/${node}`)).body.attributes.name
    const { page, button, heading, dialog, confirmation, toast, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/mounts')
    await button('Create mount').first().click()
    const form = dialog('Create mount')
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByLabel('Folder on the node').fill('/etc/pterodactyl')
    await form.getByLabel('Path in the container').fill('/home/container/maps')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').first().waitFor()
    await form.getByLabel('Folder on the node').fill('/mnt/maps')
    for (const [label, text] of [
      ['Eggs', eggName],
      ['Nodes', nodeName],
    ]) {
      await form.getByRole('combobox', { name: label }).fill(text)
      await form.getByRole('option', { name: text }).first().click()
    }
    await form.getByRole('button', { name: 'Save' }).click()
    await heading(name).waitFor()
    await page.getByText('No server has it.').waitFor()

    await page.goto('/admin/servers/1/mounts')
    await button(`Mount ${name}`).click()
    await toast('The server has the mount from its next start on.').waitFor()
    await page.getByText('Mounted', { exact: true }).waitFor()
    await page.goto(`/admin/nodes/${node}`)
    await page.getByText('allowed_mounts:').waitFor()
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('link', { name: server, exact: true }).click()
    await button(`Unmount ${name}`).click()
    await button(`Mount ${name}`).waitFor()

    await page.goto('/admin/mounts')
    await page.getByRole('link', { name, exact: true }).click()
    await button('Delete mount').click()
    const sure = confirmation(`Delete “${name}”?`)
    await sure.getByRole('textbox').fill(name)
    await sure.getByRole('button', { name: 'Delete mount' }).click()
    await heading('Mounts').waitFor()
  })

  it('imports an egg, exports it, and changes a variable', async () => {
    const name = `Toy ${tag()}`
    const { page, button, heading, dialog, ...driver } = await sitDown()
    const { body } = await panel.asAdmin('GET', '/nests/1/eggs')
    const exported = await panel.asAdmin('GET', `/nests/1/eggs/${body.data[0].attributes.id}/export`)
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/nests')
    await page
      .getByRole('button', { name: /^Import eggs into/ })
      .first()
      .click()
    const form = dialog('Import eggs into')
    await form.getByLabel('Or paste an egg').fill(JSON.stringify({ ...exported.body, name }))
    await form.getByRole('button', { name: 'Compare', exact: true }).click()
    await form.getByRole('button', { name: 'Import', exact: true }).click()
    await form.getByText(`${name} has been added.`).waitFor()
    await form.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('link', { name }).click()
    await heading(name).waitFor()

    const downloading = page.waitForEvent('download')
    await button('Export').click()
    const file = await readFile(await (await downloading).path(), 'utf8')
    expect(JSON.parse(file).name).toBe(name)
    await page.getByRole('list', { name: 'Variables' }).getByRole('button', { name: /^Edit/ }).first().click()
    const variable = page.getByRole('dialog')
    await variable.getByLabel('Description').fill('As the players see it')
    await variable.getByRole('button', { name: 'Save' }).click()
    await page.getByText('As the players see it').waitFor()
  })

  it('makes a key that is shown once, changes a setting, and finds all of it in the log', async () => {
    const description = `Billing ${tag()}`
    const { page, button, dialog, toast, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/keys')
    await button('Create key').first().click()
    const form = dialog('Create key')
    await form.getByLabel('Description').fill(description)
    await form.getByRole('radio', { name: 'Users: Read', exact: true }).check()
    await form.getByRole('button', { name: 'Create key' }).click()
    await dialog('Your new key')
      .getByText(/^ptla_\w+$/)
      .waitFor()
    await dialog('Your new key').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('row').filter({ hasText: description }).getByText('Users (read)').waitFor()

    await page.goto('/admin/settings/trash')
    const days = page.getByLabel('Days after which files in the trash are deleted.')
    await days.fill('0')
    await button('Save').click()
    expect(await driver.fieldErrorOf(days)).not.toBe('')
    await days.fill('9')
    await button('Save').click()
    await toast('Saved.').waitFor()

    await page.goto('/admin/settings/mail')
    await button('Send a test mail').click()
    await page.getByText('The test succeeded.').waitFor()
    await page.getByText('was stored in the outbox').waitFor()
    await page.goto('/admin/settings/sign_in')
    await button('Test the OpenID provider').click()
    await page.getByRole('alert').getByText('Set the issuer and the client ID first.').waitFor()

    await page.goto('/admin/activity')
    await page.getByRole('searchbox').fill('admin:settings')
    await page.getByRole('row').nth(1).getByText('admin', { exact: true }).waitFor()
  })

  it('finds servers, users and pages from the command palette, and what was done to a server', async () => {
    const account = await makeAccount(panel, 'seeker')
    const { page, heading, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    const palette = page.getByRole('combobox', { name: 'Command palette' })
    await page.keyboard.press('Control+k')
    await palette.fill(account.email)
    await page.getByRole('option', { name: account.username }).waitFor()
    await page.keyboard.press('Enter')
    await heading(account.username).waitFor()
    await page.keyboard.press('Control+k')
    await palette.fill('127.0.0.1:25565')
    await page
      .getByRole('group', { name: 'Administration' })
      .getByRole('option', { name: 'Demo server' })
      .click()
    await heading('Demo server').waitFor()
    await page.locator('a[href="/admin/activity?server_id=1"]').click()
    await heading('Activity').waitFor()
  })
})
