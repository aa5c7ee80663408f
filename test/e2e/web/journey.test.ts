import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { version } from '../../../src/version.ts'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { codesOf } from '../../support/totp-codes.ts'
import {
  addServerEach,
  makeAccount,
  type OwnServer,
  startLocalhostPanel,
  startTimeout,
  switchOff,
} from './panel-fixtures.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'
import { viewports } from './screens.ts'

let panel: PanelProcess
let chromium: Chromium
let servers: Record<Size['name'], OwnServer>
const drivers: PageDriver[] = []
type Size = (typeof viewports)[number]
const onEach = it.each(viewports)

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  servers = await addServerEach(panel, viewports)
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

async function sitDown({ width, height }: Size): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url, { viewport: { width, height } })
  drivers.push(driver)
  return driver
}

describe('an owner', { timeout: testTimeout }, () => {
  onEach('sets up a second factor, which is asked for at the next sign-in, on a $name', async (size) => {
    const account = await makeAccount(panel, 'careful')
    const { page, button, heading, dialog, ...driver } = await sitDown(size)
    await driver.signIn(account)
    await driver.choose('Account menu', 'Account')
    // A phone has room for one word.
    await page.getByRole('link', { name: /^(Sign-in and security|Security)$/ }).click()
    await heading('Sign-in and security').waitFor()

    await button('Enable').click()
    const setup = dialog('Two-factor authentication')
    const key = await setup.locator('code').innerText()
    const nextCode = codesOf(key.replaceAll(/\s/g, ''))
    await setup.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await setup.getByLabel('Code from the app').fill(await nextCode())
    await setup.getByLabel('Current password').fill(account.password)
    await setup.getByRole('button', { name: 'Enable', exact: true }).click()
    const tokens = dialog('Recovery tokens')
    await tokens.getByRole('listitem').first().waitFor()
    // They are shown once, so only their own button closes them.
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await tokens.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('Two-factor authentication is enabled.').waitFor()

    await button('Account menu').click()
    await page.getByText(`Roost ${version}`, { exact: true }).waitFor()
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await heading('Sign in').waitFor()
    await driver.enterName(account)
    await heading('Two-factor authentication').waitFor()
    await page.getByLabel('Code from your authenticator app').fill(await nextCode())
    await heading('Servers').waitFor()
  })

  onEach('starts a server, talks to it, and brings back what a backup holds, on a $name', async (size) => {
    const server = servers[size.name]
    onTestFinished(() => switchOff(panel, server))
    // A test that is tried again finds what it left behind.
    const tag = randomUUID().slice(0, 8)
    const [file, copy] = [`notes-${tag}.txt`, `Before ${tag}`]
    const { page, button, dialog, state, ...driver } = await sitDown(size)
    await driver.signIn(panel.bootstrap.user)
    await driver.openServer(server.name)
    await button('Start').click()
    await driver.consoleSays(/Demo world ready on port \d+/)
    await state('Running').waitFor()
    await driver.sendCommand('say Hello from the browser')
    await driver.consoleSays('[Server] Hello from the browser')

    await driver.openPart('Files')
    await driver.choose('New', 'New file')
    await page.getByLabel('File name').fill(file)
    await driver.rewriteFile('The first version')
    await driver.heading(file).waitFor()

    await driver.openPart('Backups')
    await button('Create backup').click()
    const asked = dialog('Create backup')
    await asked.getByLabel('Name').fill(copy)
    await asked.getByRole('button', { name: 'Create backup' }).click()
    const backup = page.getByRole('listitem').filter({ hasText: copy })
    await backup.getByText('Complete', { exact: true }).waitFor()

    await driver.openPart('Files')
    await driver.openFile(file)
    await driver.rewriteFile('The second version')
    await driver.openPart('Backups')
    await driver.choose(`Actions for ${copy}`, 'Restore')
    const sure = driver.confirmation(`Restore “${copy}”?`)
    const restore = sure.getByRole('button', { name: 'Restore', exact: true })
    expect(await restore.isDisabled()).toBe(true)
    await sure.getByLabel(`Type “${server.name}” to confirm`).fill(server.name)
    await restore.click()
    await page.getByText('The backup is being restored.').first().waitFor()
    await state('Offline').waitFor()

    await driver.openPart('Files')
    await driver.openFile(file)
    expect(await driver.editor.innerText()).toBe('The first version')
  })

  onEach('navigates once a save has ended, and is not sent back, on a $name', async (size) => {
    const server = servers[size.name]
    const { page, button, editor, heading, serverNav, confirmation, ...driver } = await sitDown(size)
    await driver.signIn(panel.bootstrap.user)
    await driver.openServer(server.name)
    await driver.openPart('Files')
    const leave = confirmation('Leave without saving?')
    const leaveWhileSaving = async () => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const asked = page.waitForRequest(/files\/write/)
      await page.route(/files\/write/, async (route) => {
        await held
        await route.continue()
      })
      await button('Save').click()
      await asked
      await serverNav.getByRole('link', { name: 'Backups', exact: true }).click()
      await leave.waitFor()
      letGo()
      // At once: on a slow machine the message may be gone before the page is there.
      await Promise.all([
        driver.toast('The file has been saved.').waitFor(),
        leave.waitFor({ state: 'detached' }).then(() => heading('Backups').waitFor()),
      ])
      await page.unroute(/files\/write/)
      await heading('Backups').waitFor()
    }
    await driver.choose('New', 'New file')
    await page.getByLabel('File name').fill(`${randomUUID()}.txt`)
    await editor.fill('New')
    await leaveWhileSaving()

    await driver.openPart('Files')
    await driver.openFile('server.properties')
    await editor.press('Control+End')
    await page.keyboard.type('# One more line')
    await leaveWhileSaving()
  })

  onEach('plans a restart, and has it done at once, on a $name', async (size) => {
    const server = servers[size.name]
    onTestFinished(() => switchOff(panel, server))
    const { page, button, dialog, heading, ...driver } = await sitDown(size)
    await driver.signIn(panel.bootstrap.user)
    await driver.openServer(server.name)
    await driver.openPart('Schedules')
    await button('Create schedule').click()
    const asked = dialog('Create schedule')
    await asked.getByLabel('Name').fill('Nightly restart')
    await asked.getByRole('button', { name: 'Every day' }).click()
    await asked.getByLabel('At', { exact: true }).fill('05:30')
    await asked.getByRole('button', { name: 'Create schedule' }).click()
    await heading('Nightly restart').waitFor()

    await button('Add task').click()
    const task = dialog('Add task')
    await task.getByLabel('Action').selectOption('Power action')
    await task.getByLabel('Power action').selectOption('Restart')
    await task.getByRole('button', { name: 'Add task' }).click()
    const tasks = page.getByRole('list', { name: 'Tasks' }).getByRole('listitem')
    await tasks.filter({ hasText: 'Restart' }).waitFor()

    await button('Run now').click()
    const run = page.getByRole('list', { name: 'Run history' }).getByRole('listitem').first()
    await run.getByText('Succeeded', { exact: true }).waitFor()
    await page.getByText('Nightly restart: Succeeded').waitFor()
    await driver.openPart('Console')
    await driver.consoleSays(/Demo world ready on port \d+/)
  })

  onEach(
    'plans backups from their page, and reads on the bell that one is complete, on a $name',
    async (size) => {
      const server = servers[size.name]
      const { page, button, dialog, heading, ...driver } = await sitDown(size)
      await driver.signIn(panel.bootstrap.user)
      await driver.openServer(server.name)
      await driver.openPart('Backups')
      await page.getByRole('link', { name: 'Schedule backups' }).click()
      const asked = dialog('Create schedule')
      await asked.getByRole('list', { name: 'Tasks that are created' }).getByText('Create backup').waitFor()
      expect(await asked.getByLabel('Name').inputValue()).toBe('Backup every 6 hours')
      await asked.getByRole('button', { name: 'Create schedule' }).click()
      await heading('Backup every 6 hours').waitFor()
      await button('Run now').click()
      await page.getByText('Backup every 6 hours: Succeeded').waitFor()
      await driver.openPart('Backups')
      await page.getByText('Running', { exact: true }).waitFor({ state: 'detached' })

      await page.reload()
      await page.getByRole('button', { name: /^Notifications, \d+ unread/ }).click()
      const bell = page.getByRole('dialog', { name: 'Notifications' })
      await bell
        .getByRole('link', { name: /^Backup complete.*Unread/ })
        .first()
        .waitFor()
      await bell.getByRole('button', { name: 'Mark all as read' }).click()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Notifications', exact: true }).click()
      await bell
        .getByRole('link', { name: /^Backup complete/ })
        .first()
        .click()
      await heading('Backups').waitFor()
      await bell.waitFor({ state: 'detached' })

      // It does not cover the page that the browser goes back to.
      await driver.openPart('Schedules')
      await page.getByRole('button', { name: 'Notifications', exact: true }).click()
      await bell.waitFor()
      await page.goBack()
      await heading('Backups').waitFor()
      await bell.waitFor({ state: 'detached' })
    },
  )

  onEach('reads in their own language why a run failed, on a $name', async (size) => {
    const server = servers[size.name]
    const path = `/servers/${server.identifier}/schedules`
    const daily = { minute: '0', hour: '4', day_of_month: '*', month: '*', day_of_week: '*' }
    const { body } = await panel.asPlayer('POST', path, { name: 'Each night', ...daily })
    const schedule = `${path}/${body.attributes.id}`
    const task = { action: 'command', payload: 'say Hello', time_offset: 0 }
    expect((await panel.asPlayer('POST', `${schedule}/tasks`, task)).status).toBe(200)
    await switchOff(panel, server)
    expect((await panel.asPlayer('POST', `${schedule}/execute`)).status).toBe(202)
    const { page, heading, ...driver } = await sitDown(size)
    await driver.signIn(panel.bootstrap.user)
    const speak = (language: string) => panel.asPlayer('PUT', '/account/language', { language })
    onTestFinished(async () => void (await speak('en')))
    expect((await speak('de')).status).toBe(200)
    await page.goto(`/server/${server.identifier}/schedules/${body.attributes.id}`)
    await heading('Each night').waitFor()
    const run = page.getByRole('list', { name: 'Ausführungen' }).getByRole('listitem').first()
    await run.getByText('Der Server muss laufen, um Befehle anzunehmen.').first().waitFor()
  })
})

describe('a subuser', { timeout: testTimeout }, () => {
  onEach('finds what they may do and nothing else, until they are removed, on a $name', async (size) => {
    const server = servers[size.name]
    onTestFinished(() => switchOff(panel, server))
    const friend = await makeAccount(panel, 'friend')
    const [owner, guest] = [await sitDown(size), await sitDown(size)]
    await owner.signIn(panel.bootstrap.user)
    await owner.openServer(server.name)
    await owner.button('Start').click()
    await owner.state('Running').waitFor()
    await owner.openPart('Users')
    await owner.button('Invite user').first().click()
    const asked = owner.dialog('Invite user')
    await asked.getByLabel('E-mail address').fill(friend.email)
    for (const permission of ['Send commands', 'List folders', 'View and download files']) {
      await asked.getByRole('checkbox', { name: permission, exact: true }).check()
    }
    await asked.getByRole('button', { name: 'Invite user' }).click()
    await owner.page.getByRole('listitem').filter({ hasText: friend.email }).waitFor()

    await guest.signIn(friend)
    const socket = guest.page.waitForEvent('websocket')
    await guest.openServer(server.name)
    await guest.state('Live').waitFor()
    const line = await socket
    expect(await guest.serverNav.getByRole('link').allInnerTexts()).toEqual([
      'Console',
      'Files',
      'Usage',
      'Settings',
    ])
    for (const signal of ['Start', 'Restart', 'Stop', 'Kill']) {
      expect(await guest.button(signal).count(), signal).toBe(0)
    }
    await guest.sendCommand('say A guest was here')
    await guest.consoleSays('[Server] A guest was here')
    await guest.openPart('Files')
    await guest.openFile('server.properties')
    await guest.page.getByText('Read only').waitFor()
    expect(await guest.button('Save').count()).toBe(0)
    await guest.openPart('Console')

    await owner.button(`Remove ${friend.username}`).click()
    await owner
      .confirmation(`Remove ${friend.username}`)
      .getByRole('button', { name: 'Remove', exact: true })
      .click()
    await expect.poll(() => line.isClosed(), { timeout: 60_000 }).toBe(true)
    await guest.page.getByText('The live connection was refused').waitFor()
    await guest.state('No access').waitFor()
    guest.expectProblem(/The resource was not found/)
    await guest.page.reload()
    await guest.heading('Server not found').waitFor({ state: 'attached' })
  })
})
