import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { appKeyText, known } from '../../cli/old-panel.ts'
import { textDump } from '../../cli/text-dump.ts'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { makePanelFolder, type PanelFolder } from '../../support/panel-folder.ts'
import { type RunningProcess, startProcess } from '../../support/processes.ts'
import { openPageDriver, type PageDriver, testTimeout } from './page-driver.ts'
import { startTimeout } from './panel-fixtures.ts'
import { viewports } from './screens.ts'

const code = 'heron-stork-crane'
const wrongKey = `base64:${Buffer.alloc(32, 7).toString('base64')}`
let chromium: Chromium
const running: { processes: RunningProcess[]; folders: PanelFolder[] } = { processes: [], folders: [] }

beforeAll(async () => {
  chromium = await startChromium()
}, startTimeout)
afterAll(() => chromium?.close())
afterEach(async () => {
  await Promise.all(running.processes.splice(0).map((process) => process.stop()))
  await Promise.all(running.folders.splice(0).map((folder) => folder.remove()))
})

/** Starts a panel on an empty database, and puts the dump and the `.env` of an old one beside it. */
async function startEmptyPanel() {
  const folder = await makePanelFolder()
  running.folders.push(folder)
  const process = await startProcess('functions/all/start.js', {
    env: { PORT: '0', HOST: 'localhost', DATA_DIR: folder.data, DEMO: 'false', SETUP_CODE: code },
    ready: /Roost serves at/,
    timeoutMs: startTimeout,
  })
  running.processes.push(process)
  const files = { dump: join(folder.path, 'panel.sql.gz'), env: join(folder.path, 'old.env') }
  await writeFile(files.dump, gzipSync(textDump('1.11')))
  await writeFile(
    files.env,
    [`APP_KEY=${appKeyText}`, 'APP_TIMEZONE=Europe/Berlin', 'DB_PASSWORD=database-of-the-old-panel'].join(
      '\n',
    ),
  )
  return { url: /http:\/\/localhost:\d+/.exec(process.output())?.[0] ?? '', folder, files, process }
}

async function becomeAdministrator({ page, button, heading }: PageDriver): Promise<void> {
  await page.goto('/auth/setup')
  await page.getByLabel('Set-up code').fill(code)
  await page.getByLabel('Username').fill('first')
  await page.getByLabel('E-mail address').fill('first@roost.example')
  await page.getByLabel('Password', { exact: true }).fill('a long password')
  await page.locator('input[name=password_confirmation]').fill('a long password')
  await button('Set up').click()
  await heading('The panel').waitFor()
}

/** Uploads the dump on the page to which the navigation of the area leads. */
async function uploadDump({ page, button, heading }: PageDriver, dump: string): Promise<void> {
  await page.goto('/admin')
  const link = page.getByRole('link', { name: 'Move in', exact: true })
  if (!(await link.isVisible())) await button('More').click()
  await link.click()
  await heading('Move in').waitFor()
  await page.getByLabel('Choose a file').setInputFiles(dump)
  await page.getByText('panel.sql.gz').waitFor()
  await page.getByText('Uploaded by first.').waitFor()
}

/** Checks with a key that is not the one of the dump. */
async function checkWithWrongKey({ page, button }: PageDriver): Promise<void> {
  const key = page.getByLabel('APP_KEY', { exact: true })
  await key.fill('too short')
  await button('Check').click()
  await page.getByText(/An APP_KEY has 32 bytes/).waitFor()
  await key.fill(wrongKey)
  await button('Check').click()
  await page.getByText(/Reasons that forbid the move: \d/).waitFor()
  await page
    .getByText(/has another key than APP_KEY/)
    .first()
    .waitFor()
  expect(await button('Move in').count()).toBe(0)
}

/** Checks with the `.env`, whose key, time zone and settings the page reads. */
async function checkWithEnv({ page, button }: PageDriver, env: string): Promise<void> {
  await page.getByLabel('Its .env').setInputFiles(env)
  await page.getByText('Read from old.env.').waitFor()
  expect(await page.getByLabel('Time zone of its schedules').inputValue()).toBe('Europe/Berlin')
  await button('Check').click()
  await page.getByText('Nothing forbids the move.').waitFor()
  await page.getByText('Time zone of schedules: Europe/Berlin, from APP_TIMEZONE of the .env.').waitFor()
  await page.getByRole('row', { name: /^servers 4 2$/ }).waitFor()
  await page.getByText(/owner_id names a row of users that is not moved/).waitFor()
}

async function start({ page, button, confirmation, dialog }: PageDriver): Promise<void> {
  await button('Move in').click()
  const question = dialog('Move in').or(confirmation('Move in'))
  await question.getByText(/Stop the old panel first/).waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'hidden' })
  await button('Move in').click()
  await question.getByRole('button', { name: 'Move in' }).click()
  await page.getByText('Everything that can move is here').waitFor()
  await page.getByText(/Each row was compared with the old one/).waitFor()
  await page.getByRole('row', { name: /^servers 4 2 2$/ }).waitFor()
}

/** Uploads the dump again, with another time zone than that which the panel remembers. */
async function checkInOtherZone({ page, button }: PageDriver, dump: string): Promise<void> {
  await button('Move in from another dump').click()
  await page.getByLabel('Choose a file').setInputFiles(dump)
  await page.getByText('Uploaded by first.').waitFor()
  const zone = page.getByLabel('Time zone of its schedules')
  const replaces = page.getByLabel(/^Replace Europe\/Berlin, the time zone of the earlier move/)
  expect([await zone.inputValue(), await replaces.count()]).toEqual(['Europe/Berlin', 0])
  await zone.fill('Asia/Tokyo')
  await page.getByLabel('APP_KEY', { exact: true }).fill(appKeyText)
  await button('Check').click()
  await page.getByText(/this one would take Asia\/Tokyo, as given/).waitFor()
  await page.getByLabel('APP_KEY', { exact: true }).fill(appKeyText)
  await zone.fill('Asia/Tokyo')
  await replaces.click()
  await button('Check').click()
  await page.getByText(/^It replaces Europe\/Berlin of the first run/).waitFor()
}

/** Names of the files below a folder that contain a text. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const found = await Promise.all(files.map(async (file) => (await readFile(file)).includes(text)))
  return files.filter((_, at) => found[at])
}

const ways = [
  ['at a desk', viewports[2]],
  ['on a phone', viewports[0]],
] as const

describe('another panel', { timeout: testTimeout }, () => {
  it.each(ways)('moves in on the page %s, and its users sign in as before', async (_name, viewport) => {
    const { url, folder, files, process } = await startEmptyPanel()
    const driver = await openPageDriver(chromium, url)
    onTestFinished(() => driver.context.close())
    await driver.page.setViewportSize(viewport)
    await becomeAdministrator(driver)
    await uploadDump(driver, files.dump)
    expect(await readdir(join(folder.data, 'move-in'))).toHaveLength(1)

    await checkWithWrongKey(driver)
    await driver.page.goto('/admin/users')
    await driver.page.getByText('first@roost.example').first().waitFor()
    expect(await driver.page.getByText('bob@old.example').count()).toBe(0)

    await driver.page.goto('/admin/move-in')
    await checkWithEnv(driver, files.env)
    await start(driver)
    expect(await readdir(join(folder.data, 'move-in'))).toEqual([])
    for (const secret of [appKeyText, wrongKey, 'database-of-the-old-panel']) {
      expect(await filesWith(folder.data, secret), secret).toEqual([])
      expect(process.output()).not.toContain(secret)
    }
    await checkInOtherZone(driver, files.dump)
    expect(driver.problems()).toEqual([])

    const old = await openPageDriver(chromium, url)
    onTestFinished(() => old.context.close())
    await old.page.setViewportSize(viewport)
    await old.page.goto('/auth/login')
    await old.enterName({ username: 'bob', email: '', password: known.password })
    // Their language moved with them.
    await old.heading('Server').waitFor()
    await old.page.getByRole('link', { name: 'Server 31', exact: true }).waitFor()
    expect(await old.page.getByRole('link', { name: 'Server 30', exact: true }).count()).toBe(1)
    expect(old.problems()).toEqual([])
  })
})
