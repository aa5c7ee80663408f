import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { makePanelFolder, type PanelFolder } from '../../support/panel-folder.ts'
import { type RunningProcess, startProcess } from '../../support/processes.ts'
import { keysOf } from './keyboard.ts'
import { openPageDriver, type PageDriver, testTimeout } from './page-driver.ts'
import { startTimeout } from './panel-fixtures.ts'
import { viewports } from './screens.ts'

const code = 'heron-stork-crane'
const daemonProgram = 'src/dev/daemon/main.ts'
let chromium: Chromium

beforeAll(async () => {
  chromium = await startChromium()
}, startTimeout)
afterAll(() => chromium?.close())

/** A panel on an empty database, and what a test starts beside it. */
type FirstRun = { url: string; folder: PanelFolder }
const running: { processes: RunningProcess[]; folders: PanelFolder[] } = { processes: [], folders: [] }
afterEach(async () => {
  await Promise.all(running.processes.splice(0).map((process) => process.stop()))
  await Promise.all(running.folders.splice(0).map((folder) => folder.remove()))
})

async function startPanel(folder: PanelFolder): Promise<RunningProcess> {
  const env = { PORT: '0', HOST: 'localhost', DATA_DIR: folder.data, DEMO: 'false', SETUP_CODE: code }
  const process = await startProcess('functions/all/start.js', {
    env,
    ready: /Roost serves at/,
    timeoutMs: startTimeout,
  })
  running.processes.push(process)
  return process
}

async function startEmptyPanel(): Promise<FirstRun> {
  const folder = await makePanelFolder()
  running.folders.push(folder)
  const process = await startPanel(folder)
  return { url: /http:\/\/localhost:\d+/.exec(process.output())?.[0] ?? '', folder }
}

/** Runs the command that the page shows for Wings with the development daemon, and starts it. */
async function startDaemonBy(command: string, folder: PanelFolder): Promise<void> {
  const [program, ...args] = command.split(' ')
  expect([program, args[0]]).toEqual(['wings', 'configure'])
  const file = join(folder.path, 'node.json')
  const configuring = await startProcess(daemonProgram, {
    args: [...args, '--config', file],
    ready: /The configuration of node \d+ is in/,
  })
  await configuring.stop()
  const daemon = await startProcess(daemonProgram, {
    args: ['--config', file, '--data', join(folder.path, 'node')],
    ready: /The daemon listens at/,
  })
  running.processes.push(daemon)
}

async function findFreePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

/** How a page is used. */
type Hands = {
  press: (target: Locator) => Promise<void>
  write: (field: Locator, text: string) => Promise<void>
}

const pointer: Hands = { press: (target) => target.click(), write: (field, text) => field.fill(text) }
function keyboardOf({ page }: PageDriver): Hands {
  const keys = keysOf(page)
  // Tab selects what is in a field, so that typing replaces it.
  return { press: keys.push, write: keys.write }
}

async function makeAdministrator(driver: PageDriver, hands: Hands): Promise<void> {
  await fillAccount(driver, hands)
  await hands.press(driver.button('Set up'))
}

/** Opens an empty panel, and fills in the form of its first administrator. */
async function fillAccount({ page }: PageDriver, hands: Hands): Promise<void> {
  await page.goto('/auth/login')
  await page.waitForURL('**/auth/setup')
  await hands.write(page.getByLabel('Set-up code'), code)
  await hands.write(page.getByLabel('Username'), 'first')
  await hands.write(page.getByLabel('E-mail address'), 'first@roost.example')
  await hands.write(page.getByLabel('Password', { exact: true }), 'a long password')
  await hands.write(page.locator('input[name=password_confirmation]'), 'a long password')
}

/** Goes through the steps before the node. */
async function describePanel({ page, button, heading }: PageDriver, hands: Hands): Promise<void> {
  await heading('The panel').waitFor()
  await hands.write(page.getByLabel('Name', { exact: true }), 'Castle Hosting')
  await hands.press(button('Save and continue'))
  await heading('Mail').waitFor()
  expect(await page.title()).toContain('Castle Hosting')
  await hands.press(button('Send a test mail'))
  await page.getByText('The test succeeded.').waitFor()
  await hands.press(button('Do this later'))
  await heading('A location').waitFor()
  await hands.write(page.getByLabel('Short name'), 'home')
  await hands.press(button('Save and continue'))
  await heading('A node').waitFor()
}

/** Makes a node, whose daemon is started by nothing but the command that is shown. */
async function connectNode(driver: PageDriver, hands: Hands, folder: PanelFolder): Promise<void> {
  const { page, button } = driver
  await hands.write(page.getByLabel('Name', { exact: true }), 'alpha')
  await hands.write(page.getByLabel('Domain or IP address'), '127.0.0.1')
  await hands.write(page.getByLabel('Daemon port'), await findFreePort())
  await hands.press(button('Create node'))
  await page.getByText('Waiting for the first answer of alpha').waitFor()
  await page
    .getByText(/Nothing listens on port \d+\./)
    .first()
    .waitFor()
  await hands.press(button('Create a key for one hour'))
  const command = page.locator('code').filter({ hasText: /wings configure .*--token [^…]/ })
  await startDaemonBy(await command.innerText(), folder)
  await page.getByText('alpha answers').waitFor()
  await hands.press(page.getByRole('link', { name: 'Continue', exact: true }))
}

async function createFirstServer(driver: PageDriver, hands: Hands): Promise<void> {
  const { page, button, heading } = driver
  await heading('Addresses').waitFor()
  await hands.press(button('Minecraft: Java 25565-25574'))
  expect(await page.getByLabel('IP addresses').inputValue()).toBe('127.0.0.1')
  await hands.press(button('Add allocations'))
  await heading('A game').waitFor()
  await hands.press(page.getByRole('button', { name: /^Demo\b/ }))
  await heading('First server').waitFor()
  await hands.write(page.getByLabel('Name', { exact: true }), 'Castle')
  await hands.press(button('Create server'))
  await heading('Console').waitFor({ state: 'attached' })
  await driver.consoleSays(/Demo world ready on port 25565/)
}

async function inviteFriend(driver: PageDriver, hands: Hands): Promise<void> {
  const { page, button, dialog } = driver
  await page.goto('/admin/setup/server')
  await hands.press(page.getByRole('link', { name: 'Invite a user' }))
  await driver.heading('Users').waitFor()
  await hands.press(button('Invite user'))
  const invitation = dialog('Invite user')
  await hands.write(invitation.getByLabel('E-mail address'), 'friend@roost.example')
  await hands.press(invitation.getByRole('button', { name: 'Moderator' }))
  await hands.press(invitation.getByRole('button', { name: 'Invite user' }))
  await page.getByRole('listitem').filter({ hasText: 'friend@roost.example' }).waitFor()
}

const ways = [
  ['with a mouse', viewports[1], () => pointer],
  ['on a phone', viewports[0], () => pointer],
  ['with the keyboard alone', viewports[1], keyboardOf],
] as const

describe('an empty panel', { timeout: testTimeout }, () => {
  it.each(ways)('comes %s to a server, its console and a second user', async (_name, viewport, handsOf) => {
    const { url, folder } = await startEmptyPanel()
    const driver = await openPageDriver(chromium, url)
    onTestFinished(() => driver.context.close())
    await driver.page.setViewportSize(viewport)
    const hands = handsOf(driver)
    await makeAdministrator(driver, hands)
    await describePanel(driver, hands)
    await connectNode(driver, hands, folder)
    await createFirstServer(driver, hands)
    await inviteFriend(driver, hands)
    await driver.page.goto('/admin')
    await driver.page.getByText('Newest events').waitFor()
    await driver.page.getByText('Set up your panel').waitFor({ state: 'detached' })
    expect(driver.problems()).toEqual([])
  })
})

describe('the set-up', { timeout: testTimeout }, () => {
  it('makes one administrator of two who come at once, and leads both on', async () => {
    const { url } = await startEmptyPanel()
    const [first, second] = await Promise.all([1, 2].map(() => openPageDriver(chromium, url)))
    if (!first || !second) throw new Error('There are two browsers.')
    onTestFinished(async () => {
      await Promise.all([first.context.close(), second.context.close()])
    })
    await fillAccount(second, pointer)
    await makeAdministrator(first, pointer)
    await first.heading('The panel').waitFor()
    await second.button('Set up').click()
    await second.page.getByText('This panel has been set up already.').waitFor()
    await second.page.getByRole('link', { name: 'Back to sign-in' }).click()
    await second.heading('Sign in').waitFor()
    // The page of the code leads its own administrator back into the steps.
    await first.page.goto('/auth/setup')
    await first.page.getByRole('link', { name: 'Continue the set-up' }).click()
    await first.heading('The panel').waitFor()
  })

  it('is resumed after a reload, a step back and a session that has ended', async () => {
    const { url } = await startEmptyPanel()
    const driver = await openPageDriver(chromium, url)
    onTestFinished(() => driver.context.close())
    const { page, button, heading, dialog } = driver
    await makeAdministrator(driver, pointer)
    await describePanel(driver, pointer)
    await page.reload()
    await heading('A node').waitFor()
    await page.goBack()
    await page.getByRole('listitem').filter({ hasText: 'home' }).waitFor()
    await page.goto('/admin/setup')
    await heading('A node').waitFor()

    page.on('dialog', (question) => question.accept())
    await driver.context.clearCookies()
    await page.getByLabel('Name', { exact: true }).fill('alpha')
    await page.getByLabel('Domain or IP address').fill('node.invalid')
    // The bell may have noticed before.
    const ended = dialog('Your session has ended')
    await Promise.any([button('Create node').click(), ended.waitFor()])
    await ended.getByRole('link', { name: 'Sign in' }).click()
    await driver.enterName({ username: 'first', email: '', password: 'a long password' })
    await heading('A node').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('alpha')
    await page.getByLabel('Domain or IP address').fill('node.invalid')
    await button('Create node').click()
    await page.getByText('node.invalid has no address.').first().waitFor()
    await page.reload()
    await page.getByText('node.invalid has no address.').first().waitFor()
    for (const [step, title] of [
      ['allocations', 'Addresses'],
      ['game', 'A game'],
      ['server', 'First server'],
    ] as const) {
      await page.goto(`/admin/setup/${step}`)
      await heading(title).waitFor()
    }
    await page.getByRole('link', { name: 'Go there' }).click()
    await heading('Addresses').waitFor()
  })

  it('makes the first administrator with a passkey', async () => {
    const { url } = await startEmptyPanel()
    const driver = await openPageDriver(chromium, url)
    onTestFinished(() => driver.context.close())
    const { page, button, heading } = driver
    await driver.addAuthenticator()
    await page.goto('/auth/setup')
    await page.getByLabel('Set-up code').fill(code)
    await page.getByLabel('Username').fill('first')
    await page.getByLabel('E-mail address').fill('first@roost.example')
    await page.getByText('With a passkey').click()
    await button('Create a passkey and set up').click()
    await heading('The panel').waitFor()
    expect(driver.problems()).toEqual([])
  })

  it('can be a demo instead, which later starts run again', async () => {
    const { url, folder } = await startEmptyPanel()
    const driver = await openPageDriver(chromium, url)
    onTestFinished(() => driver.context.close())
    const { page, button, heading } = driver
    await page.goto('/auth/setup')
    await page.getByLabel('Set-up code').fill(code)
    await button('Start the demo instead').click()
    await heading('Overview').waitFor()
    await page.goto('/admin/servers')
    await page.getByRole('link', { name: 'Demo server', exact: true }).first().waitFor()
    expect(driver.problems()).toEqual([])
    await Promise.all(running.processes.splice(0).map((process) => process.stop()))
    const again = await startPanel(folder)
    expect(again.output()).toContain('demo server')
  })
})
