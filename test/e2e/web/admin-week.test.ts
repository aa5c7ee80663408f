import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { addNode, demoServer, type PanelProcess } from '../../support/panel-process.ts'
import { eventually, type RunningProcess } from '../../support/processes.ts'
import { type StubDaemon, startStubDaemon } from '../../support/stub-daemon.ts'
import { openPageDriver, type PageDriver, testTimeout } from './page-driver.ts'
import { makeAccount, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import { openPlayer } from './player.ts'

const serverCount = 10
/** What a browser says about a node that does not answer, and about what a role may not see. */
const expectedProblems = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|status of 40[34]/

type Place = Awaited<ReturnType<typeof addNode>>

let panel: PanelProcess
let chromium: Chromium
let silent: StubDaemon
let spare: Place
let spareDaemon: RunningProcess
const servers: { id: number; name: string }[] = []
const drivers: PageDriver[] = []

/** Starts a panel with ten servers, a node with a daemon to which they can go, and one that takes archives and says nothing. */
beforeAll(async () => {
  ;[panel, chromium, silent] = await Promise.all([startLocalhostPanel(), startChromium(), startStubDaemon()])
  silent.respond({ hang: true })
  const { body: demo } = await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)
  const { node, user } = demo.attributes
  spare = await addNode(panel, 'Spare', '25700-25701')
  await addNode(panel, 'Mute', '25710-25711', silent.port)
  spareDaemon = await panel.startDaemon(spare.id)
  await panel.asAdmin('POST', `/nodes/${node}/allocations`, { ip: '127.0.0.1', ports: ['25600-25609'] })
  const free = await panel.asAdmin('GET', `/nodes/${node}/allocations?filter[server_id]=none&per_page=50`)
  const allocations: number[] = free.body.data.map(({ attributes }: any) => attributes.id)
  for (let at = 0; at < serverCount; at += 1) await addServer(user, `World ${at}`, allocations[at] ?? 0)
  await eventually(async () => {
    const { body } = await panel.asAdmin('GET', '/servers?per_page=100')
    return body.data.every(({ attributes }: any) => attributes.container.installed === 1)
  }, 90)
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
  await silent?.close()
})
afterEach(async () => {
  const opened = drivers.splice(0)
  expect(opened.flatMap(({ problems }) => problems())).toEqual([])
  await Promise.all(opened.map(({ context }) => context.close()))
})

async function addServer(user: number, name: string, allocation: number): Promise<void> {
  const input = await demoServer(panel, user, allocation)
  const { status, body } = await panel.asAdmin('POST', '/servers', { ...input, name })
  expect(status, JSON.stringify(body)).toBe(201)
  servers.push({ id: body.attributes.id, name })
}

async function sitDown(): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url)
  driver.expectProblem(expectedProblems)
  drivers.push(driver)
  return driver
}

async function sitDownAsAdministrator(): Promise<PageDriver> {
  const driver = await sitDown()
  await driver.signIn(panel.bootstrap.admin)
  return driver
}

const [moving, staying, late] = [0, 1, 2]
const serverAt = (index: number) => servers[index] ?? { id: 0, name: '' }

/** Starts the transfer of a server to a node on its page. */
async function startTransfer({ page, button }: PageDriver, server: number, node: string): Promise<void> {
  await page.goto(`/admin/servers/${serverAt(server).id}/transfer`)
  const pick = async (field: string, text?: string) => {
    const box = page.getByRole('combobox', { name: field })
    if (text === undefined) await box.click()
    else await box.fill(text)
    await page
      .getByRole('option', { name: text ?? /:257/ })
      .first()
      .click()
  }
  await pick('Node', node)
  await pick('Allocation')
  await button('Start transfer').click()
}

/** Waits until the log has an event of this actor. */
async function findsInLog({ page }: PageDriver, event: string, actor = panel.bootstrap.admin.username) {
  await page.goto(`/admin/activity?q=${encodeURIComponent(event)}&columns=actor,name,time`)
  const row = page.getByRole('row').filter({ has: page.getByText(event, { exact: true }) })
  await row.first().getByRole('link', { name: actor, exact: true }).waitFor()
}

describe('the week of a host', { timeout: testTimeout }, () => {
  it('a server moves to another node, and the transfer of another one is cancelled', async () => {
    const driver = await sitDownAsAdministrator()
    const { page, button, confirmation } = driver
    await startTransfer(driver, moving, 'Spare')
    await page.getByText('Complete', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Spare' }).waitFor()

    await startTransfer(driver, staying, 'Mute')
    await button('Cancel transfer').click()
    await confirmation('Cancel transfer').getByRole('button', { name: 'Cancel transfer' }).click()
    await page.getByText('Failed', { exact: true }).waitFor()
    await button('Start transfer').waitFor()
    await findsInLog(driver, 'admin:transfer.start')
    await findsInLog(driver, 'admin:transfer.cancel')
  })

  it('a node dies: the overview and the doctor say so, and a job that failed meanwhile is retried', async () => {
    const driver = await sitDownAsAdministrator()
    const { page, button, confirmation, toast } = driver
    await spareDaemon.stop()
    await page.goto(`/admin/servers/${serverAt(moving).id}/manage`)
    await button('Suspend').click()
    await confirmation('Suspend').getByRole('button', { name: 'Suspend' }).click()
    await button('Lift suspension').waitFor()

    await panel.asAdmin('POST', `/nodes/${spare.id}/heartbeat`)
    await page.goto('/admin')
    await page.getByRole('link', { name: 'Nodes that are down' }).waitFor()
    await page.goto(`/admin/nodes/${spare.id}/doctor`)
    await page.getByText(/^Nothing listens on port \d+\.$/).waitFor()
    await page.getByText('This browser does not reach the node.').waitFor()
    await page.getByText(/systemctl status wings/).waitFor()

    await page.goto('/admin/jobs?q=sync-server&state=waiting')
    await page.getByRole('row').filter({ hasText: 'sync-server' }).first().waitFor()
    spareDaemon = await panel.startDaemon(spare.id)
    await panel.asAdmin('POST', `/nodes/${spare.id}/heartbeat`)
    await button('Try again now').first().click()
    await toast('The job runs again.').waitFor()
    await page.goto('/admin/jobs?q=sync-server&state=done')
    await page.getByRole('row').filter({ hasText: 'sync-server' }).first().waitFor()
    await page.goto(`/admin/servers/${serverAt(moving).id}/manage`)
    await button('Lift suspension').click()
    await button('Suspend').waitFor()
    for (const event of ['admin:server.suspend', 'admin:server.unsuspend', 'admin:job.retry'])
      await findsInLog(driver, event)
  })

  it('a customer who lost the second factor gets in again, and is helped by acting for them', async () => {
    const customer = await makeAccount(panel, 'customer')
    const player = await openPlayer(chromium, panel.bootstrap.url)
    expect(await player.signIn(customer)).toBe('signed in')
    await player.turnOnSecondFactor(customer)
    await player.signOut()
    const found = await panel.asAdmin('GET', `/users?filter[email]=${customer.email}`)
    const { id } = found.body.data[0].attributes
    const own = serverAt(late)
    const { status } = await panel.asAdmin('PATCH', `/servers/${own.id}/details`, {
      name: own.name,
      user: id,
    })
    expect(status).toBe(200)

    const driver = await sitDownAsAdministrator()
    const { page, button, heading, confirmation, toast } = driver
    await page.goto(`/admin/users/${id}/manage`)
    await button('Switch off the second factor').click()
    const sure = confirmation('Switch off the second factor')
    await sure.getByRole('textbox').fill(customer.username)
    await sure.getByRole('button', { name: 'Switch off the second factor' }).click()
    await toast('The second factor is off.').waitFor()
    expect(await player.signIn(customer)).toBe('signed in')
    await player.context.close()

    await button('Act for this user').click()
    await confirmation(`Act for ${customer.username}?`)
      .getByRole('button', { name: 'Act for this user' })
      .click()
    await heading('Servers').waitFor()
    await page.getByRole('link', { name: own.name, exact: true }).click()
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill(`${own.name} renamed`)
    await button('Save').first().click()
    await page.getByText(`${own.name} renamed`).first().waitFor()
    await page
      .getByRole('complementary', { name: 'Acting for a user' })
      .getByRole('button', { name: 'Leave' })
      .click()
    await heading(customer.username).waitFor()
    await page.goto(`/admin/activity?server_id=${own.id}&event_exact=server:settings.rename`)
    await page.getByRole('link', { name: `for ${customer.username}` }).waitFor()
    for (const event of ['admin:user.reset-two-factor', 'admin:user.act', 'admin:user.leave'])
      await findsInLog(driver, event)
  })

  it('a helper sees servers only, and is refused elsewhere, also by the API', async () => {
    const name = `Support ${randomUUID().slice(0, 8)}`
    const helper = await makeAccount(panel, 'helper')
    const role = await panel.asAdmin('POST', '/roles', { name, acl: { servers: 1 } })
    expect(role.status, JSON.stringify(role.body)).toBe(201)
    const found = await panel.asAdmin('GET', `/users?filter[email]=${helper.email}`)
    const { attributes: user } = found.body.data[0]
    const changed = await panel.asAdmin('PATCH', `/users/${user.id}`, {
      ...user,
      role_id: role.body.attributes.id,
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    const driver = await sitDown()
    const { page, heading } = driver
    await driver.signIn(helper)
    await page.goto('/admin')
    const nav = page.getByRole('navigation', { name: 'Administration pages' })
    await nav.getByRole('link').first().waitFor()
    expect(await nav.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Servers'])
    await page.goto(`/admin/nodes/${spare.id}`)
    await heading('Not found, or you do not have access.').waitFor({ state: 'attached' })
    const statuses = await page.evaluate(
      async (paths) =>
        Promise.all(paths.map(async (path) => (await fetch(`/api/application/${path}`)).status)),
      ['servers', 'nodes', 'users', 'activity', 'settings', 'jobs', 'roles'],
    )
    expect(statuses).toEqual([200, 403, 403, 403, 403, 403, 403])
  })

  it('a setting is tested and changed, and two-factor authentication is demanded of a role', async () => {
    const name = `Billing ${randomUUID().slice(0, 8)}`
    const driver = await sitDownAsAdministrator()
    const { page, button, dialog, toast } = driver
    await page.goto('/admin/settings/mail')
    await button('Send a test mail').click()
    await page.getByText('The test succeeded.').waitFor()
    await page.getByText(/was stored in the outbox/).waitFor()
    await page.goto('/admin/settings/trash')
    await page.getByLabel('Days after which files in the trash are deleted.').fill('8')
    await button('Save').click()
    await toast('Saved.').waitFor()

    await page.goto('/admin/roles')
    await button('Create role').first().click()
    const form = dialog('Create role')
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByRole('switch').first().click()
    await form.getByRole('radio', { name: 'Users: Read', exact: true }).check()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row').filter({ hasText: name }).getByText('Required').waitFor()
    for (const event of ['admin:settings.test', 'admin:settings.update', 'admin:role.create'])
      await findsInLog(driver, event)
  })
})
