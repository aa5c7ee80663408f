import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { localhostCertificate } from '../../support/oidc-provider.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { pterodactyl, variable } from '../../domain/egg-documents.ts'
import { openPageDriver, testTimeout, type PageDriver } from './page-driver.ts'
import { startLocalhostPanel, startTimeout } from './panel-fixtures.ts'

let panel: PanelProcess
let chromium: Chromium
let driver: PageDriver
let origin: string
/** Documents by their path at the local stand-in of a repository of eggs. */
const documents = new Map<string, string>()
let repository: ReturnType<typeof createServer>

beforeAll(async () => {
  const [cert, key] = await Promise.all([
    readFile(localhostCertificate),
    readFile(localhostCertificate.replace(/crt$/, 'key')),
  ])
  repository = createServer({ cert, key }, ({ url = '' }, response) => {
    const document = documents.get(url)
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(document)
  })
  await new Promise<void>((resolve) => repository.listen(0, 'localhost', resolve))
  origin = `https://localhost:${(repository.address() as AddressInfo).port}`
  ;[panel, chromium] = await Promise.all([
    startLocalhostPanel({
      NODE_EXTRA_CA_CERTS: localhostCertificate,
      FETCH_ALLOWED_NETWORKS: '127.0.0.0/8, ::1',
    }),
    startChromium(),
  ])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
  repository.closeAllConnections()
  await new Promise((resolve) => repository.close(resolve))
})
afterEach(async () => {
  expect(driver.problems()).toEqual([])
  await driver.context.close()
})

const withoutSource = { version: 'PTDL_v2', update_url: null }

describe('an administrator', { timeout: testTimeout }, () => {
  it('imports an egg by its URL, makes a server from it, and updates it after seeing the difference', async () => {
    const name = `Basalt ${randomUUID().slice(0, 8)}`
    const egg = { name, meta: withoutSource, docker_images: { 'Node.js 24': 'node:24-alpine' } }
    documents.set('/basalt.json', JSON.stringify(pterodactyl({ ...egg, startup: 'node first.mjs' })))
    driver = await openPageDriver(chromium, panel.bootstrap.url)
    const { page, button, heading, dialog, toast } = driver
    await driver.signIn(panel.bootstrap.admin)

    await page.goto('/admin/nests')
    await page
      .getByRole('button', { name: /^Import eggs into/ })
      .first()
      .click()
    const form = dialog('Import eggs into')
    await form.getByLabel('URLs').fill(`${origin}/basalt.json\n${origin}/missing.json`)
    await form.getByRole('button', { name: 'Compare', exact: true }).click()
    await form.getByText('answered with status 404').waitFor()
    await form.getByRole('button', { name: 'Import', exact: true }).click()
    await form.getByText(`${name} has been added.`).waitFor()
    await form.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('link', { name }).click()
    await heading(name).waitFor()

    await page.getByRole('link', { name: 'New server from this' }).click()
    await heading('Create server').waitFor()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('combobox', { name: 'Owner' }).fill(panel.bootstrap.admin.username)
    await page.getByRole('option').first().click()
    await expect.poll(() => page.getByLabel('Start command').inputValue()).toBe('node first.mjs')
    await button('Create server').click()
    await heading(name).waitFor()
    await page.getByRole('link', { name: 'New server from this' }).click()
    await heading('Create server').waitFor()
    await page.getByText(`Begins with the values of ${name}`).waitFor()
    await expect.poll(() => page.getByLabel('Start command').inputValue()).toBe('node first.mjs')

    const variables = [{ ...variable, env_variable: 'MOTD', name: 'Message', default_value: 'Welcome' }]
    documents.set(
      '/basalt.json',
      JSON.stringify(pterodactyl({ ...egg, startup: 'node second.mjs', variables })),
    )
    await page.goto('/admin/nests')
    await page.getByRole('link', { name }).click()
    await heading(name).waitFor()
    await button('Check for an update').click()
    const update = dialog(`Update ${name}`)
    await update.getByText('The update would change this').waitFor()
    await update.getByText('node first.mjs').waitFor()
    await update.getByText('node second.mjs').waitFor()
    await update.getByText('New variable').waitFor()
    await update.getByText('Servers with this egg: 1').waitFor()
    await update.getByRole('link', { name }).waitFor()
    await update.getByRole('button', { name: 'Update egg' }).click()
    await toast(`${name} has been updated.`).waitFor()
    await page.getByRole('list', { name: 'Variables' }).getByText('MOTD').waitFor()
    await button('Check for an update').click()
    await update.getByText('This egg is up to date.').waitFor()
    await page.keyboard.press('Escape')

    await button('Duplicate').click()
    const copy = dialog(`Duplicate ${name}`)
    await copy.getByRole('button', { name: 'Duplicate' }).click()
    await heading(`${name} (copy)`).waitFor()

    await page.goto('/admin/activity')
    await page.getByText(`Fetched an egg from ${origin}/basalt.json`).first().waitFor()
  })
})
