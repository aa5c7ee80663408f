import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { addNode, demoServer, type PanelProcess } from '../../support/panel-process.ts'
import { type StubDaemon, startStubDaemon } from '../../support/stub-daemon.ts'
import { openPageDriver, testTimeout } from './page-driver.ts'
import { startLocalhostPanel, startTimeout } from './panel-fixtures.ts'

let panel: PanelProcess
let chromium: Chromium
let daemon: StubDaemon
let server: { uuid: string; identifier: string }

/** Starts a panel with a server whose daemon takes its installation and never reports the end. */
beforeAll(async () => {
  ;[panel, chromium, daemon] = await Promise.all([startLocalhostPanel(), startChromium(), startStubDaemon()])
  daemon.respond(({ path }) =>
    path.endsWith('/install-logs') ? { json: { data: 'Pulling the image\nNo such image' } } : null,
  )
  const node = await addNode(panel, 'Silent', '25800-25801', daemon.port)
  const demo = await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)
  const input = await demoServer(panel, demo.body.attributes.user, node.allocations[0] ?? 0)
  const { status, body } = await panel.asAdmin('POST', '/servers', { ...input, name: 'Endless world' })
  expect(status, JSON.stringify(body)).toBe(201)
  server = body.attributes
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
  await daemon?.close()
})

describe('the application', { timeout: testTimeout }, () => {
  it('shows since when an installation runs and its log, and lets the owner install again', async () => {
    const driver = await openPageDriver(chromium, panel.bootstrap.url)
    const { page, button } = driver
    await driver.signIn(panel.bootstrap.user)
    await page.goto(`/server/${server.identifier}`)
    await page.getByText(/^Since .* ago\)$/).waitFor()
    await page.getByText('Installation log', { exact: true }).click()
    const log = page.getByRole('textbox', { name: 'Installation log' })
    expect(await log.inputValue()).toBe('Pulling the image\nNo such image')
    await button('Install again').click()
    const sure = driver.confirmation('Reinstall server')
    await sure.getByRole('textbox').fill('Endless world')
    await sure.getByRole('button', { name: 'Reinstall server' }).click()
    await page.getByText('The server is being reinstalled.').first().waitFor()
    expect(daemon.calls.map(({ path }) => path)).toContain(`/api/servers/${server.uuid}/reinstall`)
    await driver.context.close()
  })
})
