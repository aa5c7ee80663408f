import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, fetchRouted, startChromium } from '../../support/chromium.ts'
import { freePort } from '../../support/panel-process.ts'
import { makePanelFolder, type PanelFolder } from '../../support/panel-folder.ts'
import { type RunningProcess, startProcess } from '../../support/processes.ts'
import { startTimeout } from './panel-fixtures.ts'

let chromium: Chromium
let folder: PanelFolder
let running: RunningProcess
let port: number

beforeAll(async () => {
  port = await freePort()
  folder = await makePanelFolder()
  const env = { PORT: String(port), HOST: '127.0.0.1', DATA_DIR: folder.data, DEMO: 'false' }
  ;[chromium, running] = await Promise.all([
    startChromium(),
    startProcess('functions/all/start.js', { env, ready: /Roost serves at/ }),
  ])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await running?.stop()
  await folder?.remove()
})

describe('a page that a browser opens at another address', { timeout: 120_000 }, () => {
  it('goes to the address of the panel from another spelling of this machine', async () => {
    const { page, problems } = await chromium.openTab()
    await page.goto(`http://127.0.0.1:${port}/auth/login`)
    // A panel without users leads from there to its set-up.
    await page.locator('input[type=password]').first().waitFor()
    expect(page.url()).toBe(`http://localhost:${port}/auth/setup`)
    expect(problems()).toEqual([])
  })

  it('shows where the panel is instead of a sign-in', async () => {
    const { page, problems } = await chromium.openTab()
    await page.route('**', async (route) => {
      const url = new URL(route.request().url())
      const headers = { ...route.request().headers(), host: url.host }
      const answer = await fetchRouted(route, {
        url: `http://127.0.0.1:${port}${url.pathname}${url.search}`,
        headers,
      })
      await route.fulfill({ response: answer })
    })
    await page.goto('http://panel.internal/auth/login')
    await page.getByRole('link', { name: `http://localhost:${port}` }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.locator('h1').textContent()).toBe('This panel is at another address')
    expect(await page.locator('input').count()).toBe(0)
    // Chromium has no opener policy without TLS.
    expect(problems().filter((line) => !line.includes('Cross-Origin-Opener-Policy'))).toEqual([])
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('starts at the address of the panel, also behind a proxy that changes the Host', async () => {
    const { page } = await chromium.openTab()
    await page.route('**', async (route) => {
      const headers = { ...route.request().headers(), host: 'upstream.internal' }
      await route.fulfill({ response: await fetchRouted(route, { headers }) })
    })
    const answer = await page.goto(`http://localhost:${port}/auth/login`)
    expect(await answer?.text()).toContain('data-panel-origin')
    await page.locator('input[type=password]').first().waitFor()
    // What the page asks for afterwards may still be on its way.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})
