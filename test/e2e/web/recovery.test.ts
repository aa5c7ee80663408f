import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { addNode, demoServer, freePort, type PanelProcess } from '../../support/panel-process.ts'
import { eventually, type RunningProcess } from '../../support/processes.ts'
import { makeAccount, startLocalhostPanel, startTimeout, switchOff } from './stage.ts'
import { openVisitor, testTimeout, type Visitor } from './visitor.ts'

/** What a browser says on its console about servers that are away. */
const silence = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket connection to/

let panel: PanelProcess
let chromium: Chromium
let node: { id: number }
let daemon: RunningProcess
const visitors: Visitor[] = []

beforeAll(async () => {
  // The port is given, so that the panel is where it was when it comes back.
  const port = String(await freePort())
  ;[panel, chromium] = await Promise.all([startLocalhostPanel({ PORT: port }), startChromium()])
  const made = await addNode(panel, 'Distant', '25700-25701')
  node = made
  daemon = await panel.startDaemon(made.id)
  await makeServer('Distant world', made.allocations[0] ?? 0)
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
afterEach(async () => {
  const opened = visitors.splice(0)
  expect(opened.flatMap(({ troubles }) => troubles())).toEqual([])
  await Promise.all(opened.map(({ context }) => context.close()))
})

/** A further server of the player, once it is installed. */
async function makeServer(name: string, allocation: number): Promise<void> {
  const demo = await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)
  const input = await demoServer(panel, demo.body.attributes.user, allocation)
  const { status, body } = await panel.asAdmin('POST', '/servers', { ...input, name })
  expect(status, JSON.stringify(body)).toBe(201)
  await eventually(async () => {
    const { body: server } = await panel.asPlayer('GET', `/servers/${body.attributes.identifier}`)
    return server.attributes?.is_installing === false
  }, 60)
}

async function sitDown(): Promise<Visitor> {
  const visitor = await openVisitor(chromium, panel.bootstrap.url)
  visitors.push(visitor)
  return visitor
}

/** The player with this server open, and a line to its daemon. */
async function openAsPlayer(server: string): Promise<Visitor> {
  const visitor = await sitDown()
  await visitor.signIn(panel.bootstrap.user)
  await visitor.openServer(server)
  await visitor.state('Live').waitFor()
  return visitor
}

describe('the application', { timeout: testTimeout }, () => {
  it('says that a session was ended elsewhere, and leads back to the same page', async () => {
    const folder = `plugins-${randomUUID().slice(0, 8)}`
    const files = `/servers/${panel.bootstrap.server.identifier}/files`
    const made = await panel.asPlayer('POST', `${files}/create-folder`, { root: '/', name: folder })
    expect(made.status).toBe(204)
    const visitor = await openAsPlayer('Demo server')
    const { page, button, dialog } = visitor
    await visitor.openPart('Files')
    await page.getByRole('link', { name: folder, exact: true }).click()
    await page.getByText('This folder is empty.').waitFor()
    const place = page.url()

    const other = await sitDown()
    await other.signIn(panel.bootstrap.user)
    await other.page.goto('/account/sign-in')
    await other.button('Sign out everywhere else').click()
    const sure = other.question('Sign out everywhere else?')
    await sure.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await sure.waitFor({ state: 'detached' })

    await visitor.choose('New', 'New folder')
    await dialog('New folder').getByLabel('Name of the folder').fill('maps')
    await dialog('New folder').getByRole('button', { name: 'Create' }).click()
    const ended = dialog('You are signed out')
    await ended.getByRole('link', { name: 'Sign in' }).click()
    await visitor.heading('Sign in').waitFor()
    await visitor.enterName(panel.bootstrap.user)
    await page.getByText('This folder is empty.').waitFor()
    expect(page.url()).toBe(place)
    await button('New').waitFor()
  })

  it('says that a server is suspended, and goes on when it no longer is', async () => {
    const { page, button, state, ...visitor } = await openAsPlayer('Demo server')
    const { id } = panel.bootstrap.server
    const suspension = (verb: string) => panel.asAdmin('POST', `/servers/${id}/${verb}`)
    onTestFinished(async () => void (await suspension('unsuspend')))
    expect((await suspension('suspend')).status).toBe(204)
    await button('Start').click()
    await page.getByText('An administrator has suspended this server. Ask your host.').waitFor()
    await state('Suspended').waitFor()
    expect(await button('Start').count()).toBe(0)
    await visitor.openPart('Backups')
    expect(await button('Create backup').isDisabled()).toBe(true)
    await page.goto('/')
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Demo server' })
      .getByText('Suspended', { exact: true })
      .waitFor()

    await visitor.openServer('Demo server')
    await state('Suspended').waitFor()
    expect((await suspension('unsuspend')).status).toBe(204)
    await state('Live').waitFor()
    await button('Start').waitFor()
  })

  it('says how long nobody may try to sign in', async () => {
    const account = await makeAccount(panel, 'forgetful')
    const { page, button, enterName } = await sitDown()
    await page.goto('/auth/login')
    for (let tries = 0; tries < 5; tries += 1) {
      const answer = page.waitForResponse((response) => response.url().endsWith('/auth/login'))
      await enterName({ ...account, password: `guess ${tries}` })
      expect((await answer).status()).toBe(400)
      await page.getByText('The name or the password is wrong.').waitFor()
    }
    await enterName(account)
    await page.getByText('Too many attempts.').waitFor()
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
    await guest.page.getByLabel('E-mail address').fill('nobody@nowhere')
    await guest.page.getByLabel('Password', { exact: true }).fill(password)
    await guest.page.getByLabel('Repeat the password').fill(password)
    await guest.button('Create account').click()
    expect(await guest.complaintOf(guest.page.getByLabel('Username'))).toMatch(/username/i)
    expect(await guest.complaintOf(guest.page.getByLabel('E-mail address'))).toMatch(/email/i)

    const visitor = await openAsPlayer('Demo server')
    const { button, dialog, complaintOf } = visitor
    await visitor.openPart('Users')
    await button('Give somebody access').click()
    await dialog('Give somebody access').getByLabel('E-mail address').fill('nobody@nowhere')
    await dialog('Give somebody access').getByRole('button', { name: 'Give somebody access' }).click()
    expect(await complaintOf(dialog('Give somebody access').getByLabel('E-mail address'))).toMatch(/email/i)
    await dialog('Give somebody access').getByRole('button', { name: 'Cancel' }).click()

    await visitor.openPart('Schedules')
    await button('Create schedule').click()
    await dialog('Create schedule').getByLabel('Hour').fill('25')
    await dialog('Create schedule').getByRole('button', { name: 'Create schedule' }).click()
    expect(await complaintOf(dialog('Create schedule').getByLabel('Name'))).toMatch(/name/i)
    expect(await complaintOf(dialog('Create schedule').getByLabel('Hour'))).toMatch(/hour/i)
    await dialog('Create schedule').getByRole('button', { name: 'Cancel' }).click()

    await visitor.openPart('Databases')
    await button('Create database').click()
    await dialog('Create database').getByLabel('Name').fill('a')
    await dialog('Create database').getByLabel('Connections from').fill('not an address')
    await dialog('Create database').getByRole('button', { name: 'Create database' }).click()
    expect(await complaintOf(dialog('Create database').getByLabel('Name'))).toMatch(/database/i)
    expect(await complaintOf(dialog('Create database').getByLabel('Connections from'))).toMatch(/remote/i)
  })

  it('shows names, files and messages as what they are: text', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const file = '<img src=x onerror=alert(2)>.txt'
    const message = '<b onmouseover=alert(3)>Welcome</b>'
    const { id, identifier } = panel.bootstrap.server
    const demo = await panel.asAdmin('GET', `/servers/${id}`)
    const { name: before, user } = demo.body.attributes
    const rename = (to: string) => panel.asAdmin('PATCH', `/servers/${id}/details`, { name: to, user })
    onTestFinished(async () => void (await rename(before)))
    onTestFinished(() => switchOff(panel))
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

    const { page, button, ...visitor } = await sitDown()
    const windows: string[] = []
    page.on('dialog', (window) => {
      windows.push(window.message())
      void window.dismiss()
    })
    await visitor.signIn(panel.bootstrap.user)
    await visitor.openServer(name)
    await page.getByText(name, { exact: true }).waitFor()
    expect(await page.title()).toBe(`Console · ${name} · Roost`)
    await button('Start').click()
    await visitor.consoleSays(`Message of the day: ${message}`)
    await visitor.openPart('Startup')
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Message of the day' }).inputValue(), { timeout: 60_000 })
      .toBe(message)
    await visitor.openPart('Files')
    await visitor.choose(`Actions for ${file}`, 'Move to trash')
    await visitor.said('1 entry is in the trash now.').waitFor()
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByText(file, { exact: true }).waitFor()
    await visitor.openPart('Activity')
    await page.getByText(`Moved /${file} to the trash`).waitFor()
    await page.keyboard.press('Control+K')
    await page.getByRole('option', { name }).waitFor()

    expect(await page.locator('[onerror], [onmouseover]').count()).toBe(0)
    expect(windows).toEqual([])
  })

  it('says that the panel is away, and goes on when it is back', async () => {
    const visitor = await openAsPlayer('Demo server')
    const { page, button, state } = visitor
    await visitor.consoleShown()
    visitor.provoke(silence)
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
    const visitor = await openAsPlayer('Distant world')
    const { page, button, state } = visitor
    visitor.provoke(silence)
    await daemon.kill()
    await state('Connection lost').waitFor()
    await page.getByText('The node Distant does not answer. It is tried again by itself.').waitFor()
    await state('Node unreachable').waitFor()
    expect(await button('Start').isDisabled()).toBe(true)
    await visitor.openPart('Files')
    await page.getByRole('alert').getByText('The node does not answer').waitFor()
    await page.getByRole('link', { name: 'Roost' }).click()
    const card = page.getByRole('listitem').filter({ hasText: 'Distant world' })
    await card.getByText('Node unreachable').waitFor()
    await card.getByText(/The node (has not answered since|does not answer)/).waitFor()

    daemon = await panel.startDaemon(node.id)
    await card.getByText('Offline').waitFor()
    await card.getByRole('link', { name: 'Distant world' }).click()
    await state('Live').waitFor()
    await visitor.openPart('Files')
    await page.getByRole('link', { name: 'server.properties' }).waitFor()
  })
})
