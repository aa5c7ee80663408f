import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { addNode, freePort, type PanelProcess } from '../../support/panel-process.ts'
import type { RunningProcess } from '../../support/processes.ts'
import {
  addServer,
  makeAccount,
  type OwnServer,
  startLocalhostPanel,
  startTimeout,
  switchOff,
} from './panel-fixtures.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'
import { answerChanged, blocks } from './state-screens.ts'

/** The console messages of a browser about unreachable servers. */
const silence =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket connection to/

let panel: PanelProcess
let chromium: Chromium
let node: { id: number }
let daemon: RunningProcess
/** Servers of one test each: the panel gives out few tokens a minute for the console of one. */
let suspended: OwnServer
let renamed: OwnServer
const drivers: PageDriver[] = []

beforeAll(async () => {
  // The port is given, so that the panel is where it was when it comes back.
  const port = String(await freePort())
  ;[panel, chromium] = await Promise.all([startLocalhostPanel({ PORT: port }), startChromium()])
  const made = await addNode(panel, 'Distant', '25700-25701')
  node = made
  daemon = await panel.startDaemon(made.id)
  await addServer(panel, 'Distant world', made.allocations[0])
  suspended = await addServer(panel, 'Unpaid world')
  renamed = await addServer(panel, 'Plain world')
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

/** Opens this server as its owner, with a proxy in front of its daemon. */
async function openAsPlayer(server: string): Promise<PageDriver> {
  const driver = await sitDown()
  await driver.signIn(panel.bootstrap.user)
  await driver.openServer(server)
  await driver.state('Live').waitFor()
  return driver
}

describe('the application', { timeout: testTimeout }, () => {
  it('says that a session was ended elsewhere, and leads back to the same page', async () => {
    const folder = `plugins-${randomUUID().slice(0, 8)}`
    const files = `/servers/${panel.bootstrap.server.identifier}/files`
    const made = await panel.asPlayer('POST', `${files}/create-folder`, { root: '/', name: folder })
    expect(made.status).toBe(204)
    const driver = await openAsPlayer('Demo server')
    const { page, button, dialog } = driver
    await driver.openPart('Files')
    await page.getByRole('link', { name: folder, exact: true }).click()
    await page.getByText('This folder is empty.').waitFor()
    const place = page.url()

    const other = await sitDown()
    await other.signIn(panel.bootstrap.user)
    await other.page.goto('/account/sign-in')
    await other.button('Sign out everywhere else').click()
    const sure = other.confirmation('Sign out everywhere else?')
    await sure.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await sure.waitFor({ state: 'detached' })

    await driver.choose('New', 'New folder')
    await dialog('New folder').getByLabel('Folder name').fill('maps')
    await dialog('New folder').getByRole('button', { name: 'Create' }).click()
    const ended = dialog('Your session has ended')
    await ended.getByRole('link', { name: 'Sign in' }).click()
    await driver.heading('Sign in').waitFor()
    await driver.enterName(panel.bootstrap.user)
    await page.getByText('This folder is empty.').waitFor()
    expect(page.url()).toBe(place)
    await button('New').waitFor()
  })

  it('says that a server is suspended, and goes on when it no longer is', async () => {
    const { page, button, state, ...driver } = await openAsPlayer(suspended.name)
    const suspension = (verb: string) => panel.asAdmin('POST', `/servers/${suspended.id}/${verb}`)
    onTestFinished(async () => void (await suspension('unsuspend')))
    expect((await suspension('suspend')).status).toBe(204)
    await button('Start').click()
    await page.getByText('An administrator has suspended this server. Contact your host.').waitFor()
    await state('Suspended').waitFor()
    expect(await button('Start').count()).toBe(0)
    await driver.openPart('Backups')
    expect(await button('Create backup').isDisabled()).toBe(true)
    await page.goto('/')
    await page
      .getByRole('row')
      .filter({ hasText: suspended.name })
      .getByText('Suspended', { exact: true })
      .waitFor()

    await driver.openServer(suspended.name)
    await state('Suspended').waitFor()
    expect((await suspension('unsuspend')).status).toBe(204)
    await state('Live').waitFor()
    await button('Start').waitFor()
  })

  it('says in place of the console what blocks a server, without an input or attempts to connect', async () => {
    const driver = await sitDown()
    const { page } = driver
    const { identifier } = panel.bootstrap.server
    let change: object = {}
    let attempts = 0
    page.on('request', (request) => void (request.url().endsWith('/websocket') && (attempts += 1)))
    await page.route(`**/api/client/servers/${identifier}`, (route) => answerChanged(route, change))
    await driver.signIn(panel.bootstrap.user)
    for (const [name, block] of Object.entries(blocks)) {
      change = block.change
      await page.goto(`/server/${identifier}`)
      await page.locator('section').getByText(block.shows).waitFor()
      expect(await page.getByRole('textbox').count(), name).toBe(0)
      expect(await page.locator('.xterm').count(), name).toBe(0)
      expect(await page.getByText(block.shows).count(), name).toBe(1)
      expect(await driver.serverNav.getByRole('link', { name: 'Files' }).count(), name).toBe(1)
    }
    expect(attempts).toBe(0)
    change = {}
    await page.getByRole('textbox', { name: 'Type a command' }).waitFor()
  })

  it('shows administrators the output of what blocks a server, and what they can do', async () => {
    const driver = await sitDown()
    const { page } = driver
    const { identifier, id } = panel.bootstrap.server
    const { change = {} } = blocks.transferring ?? {}
    await page.route(`**/api/client/servers/${identifier}`, (route) => answerChanged(route, change))
    await driver.signIn(panel.bootstrap.admin)
    await page.goto(`/server/${identifier}`)
    await driver.state('Live').waitFor()
    await driver.consoleShown()
    expect(await page.getByRole('textbox', { name: 'Type a command' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Open in the administration' }).click()
    await page.waitForURL(`**/admin/servers/${id}/transfer`)
    await page.goto(`/server/${identifier}/startup`)
    await page.getByRole('link', { name: 'Edit as administrator' }).waitFor()
  })

  it('says how long signing in is blocked', async () => {
    const account = await makeAccount(panel, 'forgetful')
    const { page, button, enterName } = await sitDown()
    await page.goto('/auth/login')
    for (let tries = 0; tries < 5; tries += 1) {
      const answer = page.waitForResponse((response) => response.url().endsWith('/auth/login'))
      await enterName({ ...account, password: `guess ${tries}` })
      expect((await answer).status()).toBe(400)
      await page.getByText('The username or password is incorrect.').waitFor()
    }
    await enterName(account)
    await page.getByText('Too many attempts').waitFor()
    expect(await page.getByRole('timer').innerText()).toMatch(/^Try again in .*\d/)
    expect(await button('Sign in').isDisabled()).toBe(true)
  })

  it('says beside each field why it was refused', async () => {
    const settings = await panel.asAdmin('PATCH', '/settings', { sign_in: { registration: true } })
    expect(settings.status).toBe(200)
    const guest = await sitDown()
    await guest.page.goto('/auth/register')
    const password = 'a password of some length'
    await guest.page.getByLabel('Username').fill('!!')
    await guest.page.getByLabel('E-mail address').fill('user@nowhere')
    await guest.page.getByLabel('Password', { exact: true }).fill(password)
    await guest.page.getByLabel('Repeat the password').fill(password)
    await guest.button('Create account').click()
    expect(await guest.fieldErrorOf(guest.page.getByLabel('Username'))).toMatch(/username/i)
    expect(await guest.fieldErrorOf(guest.page.getByLabel('E-mail address'))).toMatch(/email/i)

    const driver = await openAsPlayer('Demo server')
    const { button, dialog, fieldErrorOf } = driver
    await driver.openPart('Users')
    await button('Invite user').click()
    await dialog('Invite user').getByLabel('E-mail address').fill('user@nowhere')
    await dialog('Invite user').getByRole('button', { name: 'Invite user' }).click()
    await dialog('Invite user').getByText('Choose at least one permission').waitFor()
    await dialog('Invite user').getByRole('button', { name: 'Viewer' }).click()
    await dialog('Invite user').getByRole('button', { name: 'Invite user' }).click()
    expect(await fieldErrorOf(dialog('Invite user').getByLabel('E-mail address'))).toMatch(/email/i)
    await dialog('Invite user').getByRole('button', { name: 'Cancel' }).click()

    await driver.openPart('Schedules')
    await button('Create schedule').click()
    await dialog('Create schedule').getByLabel('Hour').fill('25')
    await dialog('Create schedule').getByRole('button', { name: 'Create schedule' }).click()
    expect(await fieldErrorOf(dialog('Create schedule').getByLabel('Name'))).toMatch(/name/i)
    expect(await fieldErrorOf(dialog('Create schedule').getByLabel('Hour'))).toMatch(/hour/i)
    await dialog('Create schedule').getByRole('button', { name: 'Cancel' }).click()

    await driver.openPart('Databases')
    // There is no database host, so no form could succeed.
    await driver.page.getByText('Databases cannot be created on this panel at the moment.').waitFor()
    expect(await button('Create database').count()).toBe(0)
  })

  it('shows names, files and messages as what they are: text', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const file = '<img src=x onerror=alert(2)>.txt'
    const message = '<b onmouseover=alert(3)>Welcome</b>'
    const { id, identifier } = renamed
    const { body } = await panel.asAdmin('GET', `/servers/${id}`)
    const { user } = body.attributes
    const rename = (to: string) => panel.asAdmin('PATCH', `/servers/${id}/details`, { name: to, user })
    onTestFinished(async () => void (await rename(renamed.name)))
    onTestFinished(() => switchOff(panel, renamed))
    expect((await rename(name)).status).toBe(200)
    const folder = await panel.asPlayer('POST', `/servers/${identifier}/files/create-folder`, {
      root: '/',
      name: file,
    })
    expect(folder.status).toBe(204)
    const variable = await panel.asPlayer('PUT', `/servers/${identifier}/startup/variable`, {
      key: 'MOTD',
      value: message,
    })
    expect(variable.status, JSON.stringify(variable.body)).toBe(200)

    const { page, button, ...driver } = await sitDown()
    const windows: string[] = []
    page.on('dialog', (window) => {
      windows.push(window.message())
      void window.dismiss()
    })
    await driver.signIn(panel.bootstrap.user)
    await driver.openServer(name)
    await page.getByRole('region', { name, exact: true }).getByText(name, { exact: true }).waitFor()
    expect(await page.title()).toBe(`Console · ${name} · Roost`)
    await button('Start').click()
    await driver.consoleSays(`Message of the day: ${message}`)
    await driver.openPart('Startup')
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Message of the day' }).inputValue(), { timeout: 60_000 })
      .toBe(message)
    await driver.openPart('Files')
    await driver.choose(`Actions for ${file}`, 'Move to trash')
    await driver.toast('1 entry has been moved to the trash.').waitFor()
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByText(file, { exact: true }).waitFor()
    await driver.openPart('Activity')
    await page.getByText(`Moved /${file} to the trash`).waitFor()
    await page.keyboard.press('Control+K')
    await page.getByRole('option', { name }).waitFor()

    expect(await page.locator('[onerror], [onmouseover]').count()).toBe(0)
    expect(windows).toEqual([])
  })

  it('says that the panel is away, and goes on when it is back', async () => {
    const driver = await openAsPlayer('Demo server')
    const { page, button, state } = driver
    await driver.consoleShown()
    driver.expectProblem(silence)
    await panel.kill()
    await state('Connection lost').waitFor()
    await page.getByPlaceholder('Waiting for the connection …').waitFor()
    await panel.restart()
    await state('Live').waitFor()
    onTestFinished(() => switchOff(panel))
    await button('Start').click()
    await state('Running').waitFor()
  })

  it('says that a node is away, and goes on when it is back', async () => {
    const driver = await openAsPlayer('Distant world')
    const { page, button, state } = driver
    driver.expectProblem(silence)
    const input = page.getByRole('textbox', { name: 'Type a command' })
    await input.waitFor()
    await daemon.kill()
    await page.getByText('The node Distant is unreachable. Reconnecting automatically.').waitFor()
    await state('Node unreachable').waitFor()
    expect(await button('Start').isDisabled()).toBe(true)
    expect(await input.count()).toBe(0)
    await driver.openPart('Files')
    await page.getByRole('alert').getByText('The node is not responding').waitFor()
    await page.getByRole('link', { name: 'Roost' }).click()
    const card = page.getByRole('row').filter({ hasText: 'Distant world' })
    await card.getByText('Node unreachable').waitFor()
    await card.getByText(/The node (has been unreachable since|is unreachable)/).waitFor()

    daemon = await panel.startDaemon(node.id)
    await card.getByText('Offline').waitFor()
    await card.getByRole('link', { name: 'Distant world' }).click()
    await state('Live').waitFor()
    await input.waitFor()
    await driver.openPart('Files')
    await page.getByRole('link', { name: 'server.properties' }).waitFor()
  })
})
