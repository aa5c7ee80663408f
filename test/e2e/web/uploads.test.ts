import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Chooses files of this computer, or a folder, as in the file dialog of the browser. */
async function choose(what: 'Files' | 'Folder', paths: string | string[]): Promise<void> {
  const chooser = driver.page.waitForEvent('filechooser')
  await driver.choose('Upload', what)
  await (await chooser).setFiles(paths)
}

/** Writes files of this computer below a folder; gives their paths. */
async function onThisComputer(folder: string, contents: Record<string, string | Buffer>): Promise<string[]> {
  const directory = join(panel.directory, folder)
  await mkdir(directory, { recursive: true })
  return Promise.all(
    Object.entries(contents).map(async ([name, content]) => {
      await writeFile(join(directory, name), content)
      return join(directory, name)
    }),
  )
}

/** Opens a folder with a unique name, also for a test that is retried; returns the name. */
async function openNewFolder(): Promise<string> {
  const name = `folder-${randomUUID().slice(0, 8)}`
  const path = `/servers/${panel.bootstrap.server.identifier}/files/create-folder`
  expect((await panel.asPlayer('POST', path, { root: '/', name })).status).toBe(204)
  await driver.openServer('Demo server')
  await driver.openPart('Files')
  await driver.page.getByRole('link', { name, exact: true }).click()
  await driver.page.getByText('This folder is empty.').waitFor()
  return name
}

describe('uploading files', { timeout: testTimeout }, () => {
  it('uploads some and a folder, and downloads one again', async () => {
    const { page, button } = driver
    const three = await onThisComputer('some', { 'a.txt': 'First', 'b.txt': 'Second', 'c.txt': 'Third' })
    await onThisComputer('world', { 'level.txt': 'Level', 'seed.txt': '42' })
    await openNewFolder()
    await choose('Files', three)
    const uploads = page.getByRole('region', { name: 'Transfers' })
    await uploads.getByText('All uploads are complete').waitFor()
    await button('Show the files').click()
    expect(await uploads.getByText('Done', { exact: true }).count()).toBe(3)
    await button('Clear the list').click()
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      await page.getByRole('link', { name, exact: true }).waitFor()
    }

    await choose('Folder', join(panel.directory, 'world'))
    await uploads.getByText('All uploads are complete').waitFor()
    await button('Clear the list').click()
    await page.getByRole('link', { name: 'world', exact: true }).click()
    await driver.openFile('seed.txt')
    expect(await driver.editor.innerText()).toBe('42')

    const download = page.waitForEvent('download')
    await button('Download').click()
    const file = await download
    expect(file.suggestedFilename()).toBe('seed.txt')
    expect(await readFile(await file.path(), 'utf8')).toBe('42')
  })

  it('is asked before an upload replaces what is there', async () => {
    const { page, dialog } = driver
    const paths = await onThisComputer('once more', { 'rules.txt': 'Old rules', 'fresh.txt': 'New' })
    const folder = await openNewFolder()
    await choose('Files', paths.slice(0, 1))
    await page.getByRole('link', { name: 'rules.txt', exact: true }).waitFor()
    await writeFile(paths[0] ?? '', 'New rules')
    await choose('Files', paths)
    await dialog('Replace files?').getByText(`/${folder}/rules.txt`).waitFor()
    await dialog('Replace files?').getByRole('button', { name: 'Skip existing files' }).click()
    await page.getByRole('link', { name: 'fresh.txt', exact: true }).waitFor()
    await driver.openFile('rules.txt')
    expect(await driver.editor.innerText()).toBe('Old rules')
  })

  it('sees how far an upload is, and cancels it', async () => {
    const { page, context, button } = driver
    const [large] = await onThisComputer('large', { 'large.bin': Buffer.alloc(32 * mebibyte, 7) })
    await openNewFolder()
    const line = await context.newCDPSession(page)
    await line.send('Network.enable')
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: mebibyte }
    await line.send('Network.emulateNetworkConditions', slow)
    await choose('Files', [large ?? ''])
    const uploads = page.getByRole('region', { name: 'Transfers' })
    const progress = uploads.getByRole('progressbar', { name: 'Upload of large.bin' })
    const share = async () => Number(await progress.getAttribute('aria-valuenow'))
    await expect.poll(share, { timeout: stepTimeoutMs }).toBeGreaterThan(0)
    await uploads
      .getByText(/ of 32 MiB/)
      .first()
      .waitFor()
    await button('Cancel large.bin').click()
    await uploads.getByText('Cancelled', { exact: true }).waitFor()
    await line.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })
    await line.detach()
    await page.reload()
    await page.getByText('This folder is empty.').waitFor()
    expect(await page.getByRole('link', { name: 'large.bin' }).count()).toBe(0)
  })

  it('brings a file back from the trash, unless another has its name', async () => {
    const { page, toast } = driver
    const [plan] = await onThisComputer('plans', { 'plan.txt': 'Plan A' })
    const folder = await openNewFolder()
    await choose('Files', [plan ?? ''])
    const uploads = page.getByRole('region', { name: 'Transfers' })
    await uploads.getByText('All uploads are complete').waitFor()
    await driver.button('Clear the list').click()
    await driver.choose('Actions for plan.txt', 'Move to trash')
    await toast('1 entry has been moved to the trash.').waitFor()
    await writeFile(plan ?? '', 'Plan B')
    await choose('Files', [plan ?? ''])
    await uploads.getByText('All uploads are complete').waitFor()

    await page.getByRole('link', { name: 'Trash', exact: true }).click()
    const item = page.getByRole('main').getByRole('listitem').filter({ hasText: folder })
    await item.getByRole('button', { name: 'Restore', exact: true }).click()
    await item.getByRole('alert').getByText('Nothing was overwritten.').waitFor()
    await item.getByRole('link', { name: 'Show folder' }).click()
    await driver.choose('Actions for plan.txt', 'Rename')
    await page.getByRole('dialog').getByLabel('New name').fill('plan-b.txt')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('link', { name: 'plan-b.txt', exact: true }).waitFor()

    await page.getByRole('link', { name: 'Trash', exact: true }).click()
    await item.getByRole('button', { name: 'Restore', exact: true }).click()
    await toast(`/${folder}/plan.txt has been restored.`).waitFor()
    await item.waitFor({ state: 'detached' })
    await driver.openPart('Files')
    await page.getByRole('link', { name: folder, exact: true }).click()
    await driver.openFile('plan.txt')
    expect(await driver.editor.innerText()).toBe('Plan A')
  })
})
