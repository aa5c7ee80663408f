import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { create, list } from 'tar'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import { openPageDriver, stepTimeoutMs, testTimeout, type PageDriver } from './page-driver.ts'

let panel: PanelProcess
let chromium: Chromium
let driver: PageDriver

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  driver = await openPageDriver(chromium, panel.bootstrap.url)
  await driver.signIn(panel.bootstrap.user)
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
})
afterEach(() => expect(driver.problems()).toEqual([]))

const mebibyte = 1024 ** 2
const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const filesRoute = (verb: string) => `/servers/${panel.bootstrap.server.identifier}/files/${verb}`

async function write(path: string, content: string | Buffer): Promise<void> {
  const { url, user, server } = panel.bootstrap
  const address = `${url}/api/client/servers/${server.identifier}/files/write?${new URLSearchParams({ file: path })}`
  const headers = { authorization: `Bearer ${user.client_key}`, 'content-type': 'text/plain' }
  const body = typeof content === 'string' ? content : new Uint8Array(content)
  expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(204)
}

/** Makes a folder with these files and opens it; returns its path. */
async function openFolderWith(contents: Record<string, string | Buffer>): Promise<string> {
  const name = `folder-${randomUUID().slice(0, 8)}`
  for (const [file, content] of Object.entries(contents)) {
    // oxlint-disable-next-line no-await-in-loop -- the panel changes the files of a server one at a time
    await write(`/${name}/${file}`, content)
  }
  await driver.openServer('Demo server')
  await driver.openPart('Files')
  await driver.page.getByRole('link', { name, exact: true }).click()
  await driver.page.getByRole('navigation', { name: 'Path' }).getByText(name).waitFor()
  return `/${name}`
}

/** Writes files of this computer and chooses them for an upload. */
async function upload(contents: Record<string, string | Buffer>): Promise<void> {
  const directory = join(panel.directory, randomUUID())
  await mkdir(directory)
  const paths = Object.keys(contents).map((name) => join(directory, name))
  await Promise.all(paths.map((path, at) => writeFile(path, Object.values(contents)[at] ?? '')))
  const chooser = driver.page.waitForEvent('filechooser')
  await driver.choose('Upload', 'Files')
  await (await chooser).setFiles(paths)
}

const link = (name: string) => driver.page.getByRole('link', { name, exact: true })
const select = (name: string) => driver.page.getByRole('checkbox', { name: `Select ${name}` }).check()

describe('working with files', { timeout: testTimeout }, () => {
  it('takes back what was moved to the trash', async () => {
    const { page, button, toast } = driver
    await openFolderWith({ 'one.txt': '1', 'two.txt': '2', 'three.txt': '3' })
    await select('one.txt')
    await select('two.txt')
    await button('Move to trash').click()
    await toast('2 entries have been moved to the trash.').waitFor()
    await link('one.txt').waitFor({ state: 'detached' })
    await button('Undo').click()
    await toast('2 entries have been restored.').waitFor()
    await link('one.txt').waitFor()
    await link('two.txt').waitFor()
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })

  it('finds the error of a file, goes to it, and formats the file', async () => {
    const { page, button, editor } = driver
    await openFolderWith({ 'ops.json': '{"name": "a",\n  "level": 4,}\n', 'config.yml': 'a: 1\na: 2\n' })
    await driver.openFile('ops.json')
    await button('Check for errors').click()
    await page.getByText('Error in line 2, column 14.').waitFor()
    await button('Go to error').click()
    await page.keyboard.press('Backspace')
    await button('Format').click()
    await page.getByText('The text has been formatted.').waitFor()
    expect(await editor.innerText()).toMatch(/^\{\n {2}"name": "a",\n {2}"level": 4\n\}/)
    await button('Save').click()
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' })

    await page.getByRole('link', { name: 'Show in folder' }).click()
    await driver.openFile('config.yml')
    // Not by filling: in highlighted text Chromium writes styles of its own, which the policy of the page blocks.
    await editor.press('Control+End')
    await page.keyboard.type('b: 3')
    await button('Save').click()
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' })
    await page.getByText('Error in line 2, column 1. Map keys must be unique').waitFor()
  })

  it('compares before it overwrites what another user has changed', async () => {
    const { page, button, dialog } = driver
    const folder = await openFolderWith({ 'rules.txt': 'Be kind.\nNo swearing.\n' })
    await driver.openFile('rules.txt')
    await write(`${folder}/rules.txt`, 'Be kind.\nNo shouting at all.\n')
    await driver.editor.fill('Be kind.\nNo spam.\n')
    await button('Save').click()
    const box = dialog('The file has been changed')
    await box.getByRole('button', { name: 'Compare' }).click()
    const table = box.getByRole('table', { name: 'Differences' })
    await table.getByText('No shouting at all.').waitFor()
    await table.getByText('No spam.').waitFor()
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual(['On the server now', 'Your text'])
    await box.getByRole('button', { name: 'Overwrite' }).click()
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' })
  })

  it('compares before an upload replaces a file', async () => {
    const { dialog } = driver
    await openFolderWith({ 'rules.txt': 'Old rules\n' })
    await upload({ 'rules.txt': 'New rules\n' })
    const box = dialog('Replace files?')
    await box.getByRole('button', { name: 'Compare rules.txt' }).click()
    const table = box.getByRole('table', { name: 'Differences' })
    await table.getByText('Old rules').waitFor()
    await table.getByText('New rules').waitFor()
    await box.getByRole('button', { name: 'Back to the list' }).click()
    await box.getByRole('button', { name: 'Replace', exact: true }).click()
    await driver.button('Clear the list').click()
    await driver.openFile('rules.txt')
    expect(await driver.editor.innerText()).toMatch(/^New rules/)
  })

  it('downloads several entries as one archive, and leaves nothing behind', async () => {
    const { page, button, toast } = driver
    const folder = await openFolderWith({ 'one.txt': '1', 'deep/two.txt': '2', 'three.txt': '3' })
    await select('one.txt')
    await select('deep')
    const download = page.waitForEvent('download')
    await button('Download').click()
    const file = await download
    expect(file.suggestedFilename()).toBe(`${folder.slice(1)}.tar.gz`)
    const names: string[] = []
    await list({ file: await file.path(), onReadEntry: ({ path }) => void names.push(path) })
    expect(names).toContain('one.txt')
    expect(names).toContain('deep/two.txt')
    expect(names).not.toContain('three.txt')
    await toast('the temporary archive has been removed').waitFor()
    const { body } = await panel.asPlayer(
      'GET',
      `${filesRoute('list')}?directory=${encodeURIComponent(folder)}`,
    )
    expect(body.data.map(({ attributes }: any) => attributes.name)).toEqual(['deep', 'one.txt', 'three.txt'])
  })

  it('copies several files, and says that folders are left out', async () => {
    const { button, toast } = driver
    await openFolderWith({ 'one.txt': '1', 'two.txt': '2', 'deep/three.txt': '3' })
    for (const name of ['one.txt', 'two.txt', 'deep']) await select(name)
    await button('Copy').click()
    await toast('2 files have been copied. Folders were left out').waitFor()
    await link('one copy.txt').waitFor()
    await link('two copy.txt').waitFor()
  })

  it('searches the folders below', async () => {
    const { page, button } = driver
    await openFolderWith({ 'a.txt': '', 'plugins/Essentials/config.yml': 'a: 1\n', 'world/level.dat': '' })
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('CONFIG')
    await button('Search subfolders').click()
    const results = page.getByRole('region', { name: 'Search results' })
    await results.getByText('Folders searched: 4. Found: 1. The search is complete.').waitFor()
    await results.getByRole('link', { name: 'config.yml' }).click()
    await driver.heading('config.yml').waitFor()
  })

  it('has only the rows in view of a large folder, wherever it is scrolled to', async () => {
    const { page } = driver
    const source = join(panel.directory, randomUUID())
    await mkdir(source)
    const names = Array.from({ length: 600 }, (_, at) => `file-${String(at).padStart(3, '0')}.txt`)
    await Promise.all(names.map((name) => writeFile(join(source, name), name)))
    await create({ cwd: source, file: join(source, 'many.tar') }, names)
    const folder = await openFolderWith({ 'many.tar': await readFile(join(source, 'many.tar')) })
    const unpacked = await panel.asPlayer('POST', filesRoute('decompress'), {
      root: folder,
      file: 'many.tar',
    })
    expect(unpacked.status).toBe(204)
    await page.reload()
    await page.getByText('601 entries').waitFor()
    await link('file-000.txt').waitFor()
    expect(await page.getByRole('row').count()).toBeLessThan(80)
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await link('file-599.txt').waitFor()
    await link('file-000.txt').waitFor({ state: 'detached' })
    await page.evaluate(() => scrollTo(0, 0))
    await link('file-000.txt').waitFor()
  })

  it('shows images, and what archives contain', async () => {
    const { page } = driver
    const folder = await openFolderWith({
      'icon.png': Buffer.from(onePixel, 'base64'),
      'broken.png': 'no image',
      'broken.zip': 'no archive',
      'world/level.dat': 'level',
      'old.log.gz': gzipSync('[12:00:00] Done (3.2s)!\n'),
      'mod.7z': '7z',
    })
    const packed = await panel.asPlayer('POST', filesRoute('compress'), { root: folder, files: ['world'] })
    await link('icon.png').click()
    await page.getByText('1 × 1 pixels').waitFor()
    await page.goBack()
    await link('broken.png').click()
    await page.getByText('The file is no image that this browser can show.').waitFor()
    await page.goBack()
    await link('broken.zip').click()
    await page.getByText('The file is no archive of the kind that its name says').waitFor()
    await page.goBack()
    await link('old.log.gz').click()
    await page.getByRole('region', { name: 'File content' }).getByText('[12:00:00] Done (3.2s)!').waitFor()
    await page.goBack()
    await link('mod.7z').click()
    await page.getByText('There is no preview of this archive').waitFor()
    await page.goBack()
    await page.reload()
    await link(packed.body.attributes.name).click()
    const contents = page.getByRole('list', { name: 'Contents of the archive' })
    await contents.getByText('world/level.dat').waitFor()
  })
})

describe('the transfer tray', { timeout: testTimeout }, () => {
  const tray = () => driver.page.getByRole('region', { name: 'Transfers' })

  async function limitUploads(uploadThroughput: number) {
    const line = await driver.context.newCDPSession(driver.page)
    await line.send('Network.enable')
    const limits = { offline: false, latency: 0, downloadThroughput: -1 }
    await line.send('Network.emulateNetworkConditions', { ...limits, uploadThroughput })
    return async () => {
      await line.send('Network.emulateNetworkConditions', { ...limits, uploadThroughput: -1 })
      await line.detach()
    }
  }

  it('stays while other pages are open, with the speed and the time that is left', async () => {
    const { page } = driver
    await openFolderWith({ 'a.txt': '' })
    const unlimited = await limitUploads(mebibyte)
    await upload({ 'large.bin': Buffer.alloc(48 * mebibyte, 7) })
    await tray()
      .getByText(/ of 48 MiB · .* per second · .* left/)
      .waitFor()
    await driver.openPart('Backups')
    await tray().getByText('Uploading 1 file').waitFor()
    await page.getByRole('banner').getByRole('link').first().click()
    await driver.heading('Servers').waitFor()
    await tray()
      .getByText(/ per second/)
      .waitFor()
    await driver.button('Cancel all').click()
    await tray().getByText('Cancelled', { exact: true }).waitFor()
    await unlimited()
    await driver.button('Clear the list').click()
    await tray().waitFor({ state: 'detached' })
  })

  it('pauses between files, says so, and goes on', async () => {
    await openFolderWith({ 'a.txt': '' })
    const unlimited = await limitUploads(4 * mebibyte)
    const names = ['1.bin', '2.bin', '3.bin', '4.bin', '5.bin']
    await upload(Object.fromEntries(names.map((name) => [name, Buffer.alloc(5 * mebibyte, 7)])))
    await driver.button('Pause').click()
    await tray().getByText('Pausing. Files that are being sent are sent to their end').waitFor()
    await tray().getByText('Paused. No further files are sent.').waitFor({ timeout: stepTimeoutMs })
    expect(await tray().getByText('Waiting', { exact: true }).count()).toBe(2)
    await unlimited()
    await driver.button('Resume').click()
    await tray().getByText('All uploads are complete').waitFor()
    for (const name of names) await link(name).waitFor()
    await driver.button('Clear the list').click()
  })
})
