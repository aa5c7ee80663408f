import { randomUUID } from 'node:crypto'
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { keysOf } from './keyboard.ts'
import {
  addServerEach,
  type OwnServer,
  startLocalhostPanel,
  startTimeout,
  switchOff,
} from './panel-fixtures.ts'
import { openPageDriver, serverParts, testTimeout, type PageDriver } from './page-driver.ts'
import { viewports } from './screens.ts'

let panel: PanelProcess
let chromium: Chromium
let servers: Record<Size['name'], OwnServer>
const drivers: PageDriver[] = []

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

type Size = (typeof viewports)[number]
const onEach = it.each(viewports)
/** Cookies of who has signed in, by the window in which they did. */
const sessions = new Map<string, BrowserContextOptions['storageState']>()

async function sitDown({ width, height }: Size, storageState?: BrowserContextOptions['storageState']) {
  const options = { viewport: { width, height }, ...(storageState && { storageState }) }
  const driver = await openPageDriver(chromium, panel.bootstrap.url, options)
  drivers.push(driver)
  return { ...driver, keys: keysOf(driver.page) }
}

/** Opens the sign-in page and signs in with the keyboard. */
async function signInByKeys(size: Size) {
  const driver = await sitDown(size)
  const { page, button, keys } = driver
  const { username, password } = panel.bootstrap.user
  await page.goto('/auth/login')
  await keys.write(page.getByLabel('Username or e-mail address'), username)
  await keys.write(page.getByLabel('Password', { exact: true }), password)
  await keys.tabTo(button('Show'))
  await keys.press('Enter')
  await keys.tabTo(page.getByLabel('Password', { exact: true }), true)
  await keys.press('Enter')
  await driver.heading('Servers').waitFor()
  sessions.set(size.name, await driver.context.storageState())
  return driver
}

/** Opens the start page as who has signed in. */
async function comeBack(size: Size) {
  const session = sessions.get(size.name)
  if (session === undefined) return signInByKeys(size)
  const driver = await sitDown(size, session)
  await driver.page.goto('/')
  await driver.heading('Servers').waitFor()
  return driver
}

describe('with the keyboard alone, a user', { timeout: testTimeout }, () => {
  onEach('skips to the content, opens a server, starts it and talks to it, on a $name', async (size) => {
    const server = servers[size.name]
    onTestFinished(() => switchOff(panel, server))
    const { page, button, state, heading, keys, consoleSays } = await signInByKeys(size)
    const skip = page.getByRole('link', { name: 'Skip to content' })
    await keys.push(skip)
    await keys.holdsFocus(page.getByRole('main'))
    await keys.push(page.getByRole('link', { name: server.name, exact: true }))
    await heading('Console').waitFor({ state: 'attached' })

    await keys.tabTo(button('Start'))
    await keys.press('Space')
    await state('Running').waitFor()
    await keys.write(page.getByRole('textbox', { name: 'Type a command' }), 'say Typed by hand')
    await keys.press('Enter')
    await consoleSays('[Server] Typed by hand')
    await keys.press('ArrowUp')
    expect(await page.getByRole('textbox', { name: 'Type a command' }).inputValue()).toBe('say Typed by hand')

    const kill = page.getByRole('alertdialog', { name: 'Kill the server?' })
    await keys.push(button('Kill'))
    await kill.waitFor()
    await keys.staysIn(kill)
    await keys.press('Escape')
    await kill.waitFor({ state: 'detached' })
    await keys.holdsFocus(button('Kill'))
    await state('Running').waitFor()
  })

  onEach('goes to every part of a server through the navigation, on a $name', async (size) => {
    const server = servers[size.name]
    const { page, heading, keys } = await comeBack(size)
    await keys.push(page.getByRole('link', { name: server.name, exact: true }))
    await heading('Console').waitFor({ state: 'attached' })
    for (const part of serverParts) await keys.openPart(part)
    await keys.openPart('Console')
  })

  onEach('jumps to the files, makes a folder and a file, and saves it, on a $name', async (size) => {
    const server = servers[size.name]
    const folder = `plugins-${randomUUID().slice(0, 8)}`
    const { page, button, dialog, editor, heading, keys } = await comeBack(size)
    await keys.jumpTo(server.name)
    await heading('Console').waitFor({ state: 'attached' })
    await keys.jumpTo('Files')
    await heading('Files').waitFor()

    await keys.choose(button('New'), 'New folder')
    const dialogBox = dialog('New folder')
    await dialogBox.waitFor()
    await keys.staysIn(dialogBox)
    await keys.press('Escape')
    await dialogBox.waitFor({ state: 'detached' })
    await keys.holdsFocus(button('New'))

    await keys.choose(button('New'), 'New folder')
    await keys.write(dialogBox.getByLabel('Folder name'), folder)
    await keys.press('Enter')
    await dialogBox.waitFor({ state: 'detached' })
    await keys.push(page.getByRole('link', { name: folder, exact: true }))
    await page.getByText('This folder is empty.').waitFor()

    await keys.choose(button('New'), 'New file')
    await keys.write(page.getByLabel('File name'), 'rules.txt')
    await keys.write(editor, 'Be kind.')
    await keys.press('Control+S')
    await heading('rules.txt').waitFor()
    await keys.tabTo(editor)
    await keys.press('Control+End')
    await page.keyboard.type(' And patient.')
    await page.getByText('Unsaved changes').waitFor()
    await keys.press('Control+S')
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' })
    // Tab indents in the editor, unless Escape comes before it.
    await keys.press('Escape', 'Shift+Tab')
    await keys.push(page.getByRole('link', { name: 'Show in folder' }))
    await keys.push(page.getByRole('link', { name: 'rules.txt', exact: true }))
    await editor.waitFor()
    expect(await editor.innerText()).toBe('Be kind. And patient.')
  })

  onEach('changes the order of the tasks of a schedule, on a $name', async (size) => {
    const server = servers[size.name]
    const path = `/servers/${server.identifier}/schedules`
    const name = `Each night ${randomUUID().slice(0, 8)}`
    const daily = { minute: '0', hour: '4', day_of_month: '*', month: '*', day_of_week: '*' }
    const { body } = await panel.asPlayer('POST', path, { name, ...daily })
    for (const payload of ['say One', 'say Two', 'say Three']) {
      const task = { action: 'command', payload, time_offset: 0 }
      const added = await panel.asPlayer('POST', `${path}/${body.attributes.id}/tasks`, task)
      expect(added.status, JSON.stringify(added.body)).toBe(200)
    }
    const { page, button, heading, dialog, keys } = await comeBack(size)
    await keys.jumpTo(server.name)
    await heading('Console').waitFor({ state: 'attached' })
    await keys.openPart('Schedules')
    await keys.push(page.getByRole('link', { name }))
    await heading(name).waitFor()
    const tasks = page.getByRole('list', { name: 'Tasks' }).getByRole('listitem')
    const order = async () =>
      (await tasks.allInnerTexts()).map((text) => /say (\w+)/.exec(text)?.[1]).join(' ')
    const becomes = (words: string) => expect.poll(order, { timeout: 60_000 }).toBe(words)
    await becomes('One Two Three')

    await keys.push(button('Move task 3 up'))
    await becomes('One Three Two')
    await keys.push(button('Move task 2 up'))
    await becomes('Three One Two')
    // It can go no further: the focus is on the way back.
    await keys.holdsFocus(button('Move task 1 down'))
    await keys.press('Enter')
    await becomes('One Three Two')
    await keys.push(button('Move task 2 down'))
    await becomes('One Two Three')
    await keys.holdsFocus(button('Move task 3 up'))
    await keys.press('Enter')
    await becomes('One Three Two')
    await page.reload()
    await becomes('One Three Two')

    await keys.push(button('Edit'))
    const dialogBox = dialog('Edit schedule')
    await dialogBox.waitFor()
    await keys.staysIn(dialogBox)
    await keys.press('Escape')
    await dialogBox.waitFor({ state: 'detached' })
    await keys.holdsFocus(button('Edit'))
  })
})
