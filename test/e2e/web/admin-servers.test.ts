import { randomUUID } from 'node:crypto'
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

describe('an administrator', { timeout: testTimeout }, () => {
  it('creates a server, finds it, changes it, suspends it and deletes it', async () => {
    const name = `Arena ${randomUUID().slice(0, 8)}`
    const owner = await makeAccount(panel, 'customer')
    const { page, button, heading, toast, confirmation, ...driver } = await sitDown()
    const pick = async (field: string, text: string) => {
      await page.getByRole('combobox', { name: field }).fill(text)
      await page.getByRole('option').filter({ hasText: text }).first().click()
    }
    await driver.signIn(panel.bootstrap.admin)
    await page.getByRole('link', { name: 'Administration', exact: true }).click()
    await page
      .getByRole('navigation', { name: 'Administration pages' })
      .getByRole('link', { name: 'Servers' })
      .click()
    await heading('Servers').waitFor()
    await page.getByRole('link', { name: 'Demo server', exact: true }).waitFor()

    await page.getByRole('link', { name: 'Create server' }).first().click()
    await heading('Create server').waitFor()
    await button('Create server').click()
    expect(await driver.fieldErrorOf(page.getByLabel('Name', { exact: true }))).not.toBe('')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await pick('Owner', owner.username)
    await pick('Egg', 'Demo')
    await page.getByLabel('Start command').waitFor()
    await button('Create server').click()
    await heading(name).waitFor()

    const tabs = page.getByRole('navigation', { name: 'Parts of the server' })
    await page.getByLabel('Name', { exact: true }).fill(`${name} II`)
    await button('Save').click()
    await heading(`${name} II`).waitFor()
    await tabs.getByRole('link', { name: 'Build' }).click()
    await page.getByLabel('Memory', { exact: true }).fill('3')
    await button('Save').click()
    await toast('Saved.').waitFor()

    await page.goto('/admin/servers')
    await page.getByRole('searchbox').fill(name)
    const row = page.getByRole('row').filter({ hasText: `${name} II` })
    await row.getByText('3 GiB').waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(name)
    await row.getByRole('link', { name: `${name} II` }).click()

    await tabs.getByRole('link', { name: 'Manage' }).click()
    await page.getByText('Ready', { exact: true }).waitFor()
    await button('Suspend').click()
    await confirmation('Suspend').getByRole('button', { name: 'Suspend' }).click()
    await page.getByText('Suspended', { exact: true }).waitFor()
    await button('Lift suspension').waitFor()
    expect(await button('Suspend').count()).toBe(0)
    await button('Lift suspension').click()
    await button('Suspend').waitFor()
    expect(await button('Lift suspension').count()).toBe(0)
    await button('Delete server').click()
    const asked = confirmation(`Delete “${name} II”?`)
    const remove = asked.getByRole('button', { name: 'Delete server' })
    expect(await remove.isDisabled()).toBe(true)
    await asked.getByRole('textbox').fill(`${name} II`)
    await remove.click()
    await heading('Servers').waitFor()
    await page.getByRole('searchbox').fill(name)
    await page.getByText('Nothing matches').waitFor()
  })

  it('is asked before a change overwrites that of another administrator', async () => {
    const { page, button, ...driver } = await sitDown()
    const { id } = panel.bootstrap.server
    await driver.signIn(panel.bootstrap.admin)
    await page.goto(`/admin/servers/${id}`)
    const description = page.getByLabel('Description')
    await description.fill('Mine')
    const { body } = await panel.asAdmin('GET', `/servers/${id}`)
    const { name, user } = body.attributes
    const others = { name, user, description: 'Theirs' }
    expect((await panel.asAdmin('PATCH', `/servers/${id}/details`, others)).status).toBe(200)
    await button('Save').click()
    const conflict = page.getByRole('status').filter({ hasText: 'Changed by another administrator' })
    await conflict.getByText('Description: Theirs').waitFor()
    await conflict.getByText(`Last changed by ${panel.bootstrap.admin.username}`).waitFor()
    await button('Reload').click()
    await expect.poll(() => description.inputValue()).toBe('Theirs')
  })

  it('is asked also when the change comes between looking and saving', async () => {
    const { page, button, toast, ...driver } = await sitDown()
    const { id } = panel.bootstrap.server
    const { name, user } = (await panel.asAdmin('GET', `/servers/${id}`)).body.attributes
    await driver.signIn(panel.bootstrap.admin)
    await page.goto(`/admin/servers/${id}`)
    await page.getByLabel('Description').fill('Mine again')
    let isFirst = true
    await page.route(`**/api/application/servers/${id}/details`, async (route) => {
      if (isFirst) {
        isFirst = false
        const others = { name, user, description: 'In between' }
        expect((await panel.asAdmin('PATCH', `/servers/${id}/details`, others)).status).toBe(200)
      }
      await route.continue()
    })
    driver.expectProblem(/412/)
    await button('Save').click()
    await page.getByText('Description: In between').waitFor()
    await button('Overwrite').click()
    await toast('Saved.').waitFor()
    const stored = await panel.asAdmin('GET', `/servers/${id}`)
    expect(stored.body.attributes.description).toBe('Mine again')
  })
})

describe('many servers at once', { timeout: testTimeout }, () => {
  it('are not begun any more when the operation is cancelled', async () => {
    const { id } = panel.bootstrap.server
    const many = Array.from({ length: 500 }, (_, at) => 1_000_000 + at)
    const started = await panel.asAdmin('POST', '/servers/bulk', {
      action: 'unsuspend',
      servers: [id, ...many.slice(1)],
    })
    const { page, button, confirmation, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto(`/admin/bulk-operations/${started.body.attributes.id}`)
    await page.getByText(/of 500 servers/).waitFor()
    // The job may be quicker than the browser.
    const cancel = button('Cancel the rest').or(button(`Try the failed ones again (499)`))
    await cancel.waitFor()
    if ((await cancel.innerText()).startsWith('Cancel')) {
      await cancel.click()
      await confirmation('Cancel the rest').getByRole('button', { name: 'Cancel the rest' }).click()
    }
    await button('Try the failed ones again (499)').or(button('Try the failed ones again (500)')).waitFor()
  })
})

describe('a view of the list of servers', { timeout: testTimeout }, () => {
  it('is saved by name, found again and deleted', async () => {
    const { page, dialog, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/servers?status=normal&sort=-memory')
    await page.getByRole('link', { name: 'Demo server' }).waitFor()
    await driver.choose('Saved views', 'Save this view')
    await dialog('Save this view').getByLabel('Name').fill('Big ones')
    await page.keyboard.press('Enter')
    await page.goto('/admin/servers')
    await driver.choose('Saved views', 'Big ones')
    await expect.poll(() => new URL(page.url()).search).toBe('?status=normal&sort=-memory')
    await driver.choose('Saved views', 'Delete Big ones')
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Big ones' }).count()).toBe(0)
  })
})

describe('the allocations of a node', { timeout: testTimeout }, () => {
  it('get an alias together, and are deleted together as far as they are free', async () => {
    const { page, button, toast, dialog, confirmation, ...driver } = await sitDown()
    const { id } = panel.bootstrap.server
    const { node } = (await panel.asAdmin('GET', `/servers/${id}`)).body.attributes
    const ports = { ip: '127.0.0.9', ports: ['32000-32002'] }
    expect((await panel.asAdmin('POST', `/nodes/${node}/allocations`, ports)).status).toBe(204)
    await driver.signIn(panel.bootstrap.admin)
    await page.goto(`/admin/nodes/${node}/allocations?server_id=none`)
    const check = (port: number) => page.getByRole('checkbox', { name: `Choose 127.0.0.9:${port}` })
    await check(32_000).click()
    await check(32_002).click({ modifiers: ['Shift'] })
    await button('Set alias').click()
    await dialog('Set alias').getByLabel('Alias').fill('play.example.test')
    await dialog('Set alias').getByRole('button', { name: 'Save' }).click()
    await page.getByText('play.example.test').nth(2).waitFor()
    await check(32_000).click()
    await check(32_002).click({ modifiers: ['Shift'] })
    await button('Delete free ones (3)').click()
    await confirmation('Delete free ones (3)').getByRole('button', { name: 'Delete free ones (3)' }).click()
    await toast('The allocations have been deleted.').waitFor()
    await check(32_001).waitFor({ state: 'detached' })
  })
})

describe('unsaved changes of an administrator', { timeout: testTimeout }, () => {
  it('are kept until they are saved or lost knowingly', async () => {
    const { page, button, toast, confirmation, ...driver } = await sitDown()
    const { id } = panel.bootstrap.server
    await driver.signIn(panel.bootstrap.admin)
    await page.goto(`/admin/servers/${id}/notes`)
    const notes = page.getByRole('textbox', { name: 'Notes' })
    await notes.fill('Pays by invoice.')
    const build = page
      .getByRole('navigation', { name: 'Parts of the server' })
      .getByRole('link', { name: 'Build' })
    await build.click()
    const asked = confirmation('Leave without saving?')
    await asked.getByRole('button', { name: 'Cancel' }).click()
    expect(await notes.inputValue()).toBe('Pays by invoice.')
    await button('Save').click()
    await toast('Saved.').waitFor()
    const stored = await panel.asAdmin('GET', `/servers/${id}/notes`)
    expect(stored.body.attributes.notes).toBe('Pays by invoice.')
    await build.click()
    await page.getByLabel('Memory', { exact: true }).fill('7')
    await page.goBack()
    await asked.getByRole('button', { name: 'Leave' }).click()
    await notes.waitFor()
  })

  it('in a dialog are not lost by closing it', async () => {
    const { page, button, dialog, confirmation, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.admin)
    await page.goto('/admin/locations')
    await button('Create location').click()
    await dialog('Create location').getByLabel('Short name').fill('mars')
    await page.keyboard.press('Escape')
    const asked = confirmation('Leave without saving?')
    await asked.getByRole('button', { name: 'Cancel' }).click()
    expect(await dialog('Create location').getByLabel('Short name').inputValue()).toBe('mars')
    await page.keyboard.press('Escape')
    await asked.getByRole('button', { name: 'Leave' }).click()
    await dialog('Create location').waitFor({ state: 'detached' })
  })
})

describe('a user who is no administrator', { timeout: testTimeout }, () => {
  it('sees no administration, and no page of it', async () => {
    const { page, heading, ...driver } = await sitDown()
    await driver.signIn(panel.bootstrap.user)
    expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0)
    await page.goto('/admin/servers')
    await heading('Not found, or you do not have access.').waitFor({ state: 'attached' })
  })
})
