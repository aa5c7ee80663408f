import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { makePanelFolder } from '../../support/panel-folder.ts'
import { type RunningProcess, startProcess } from '../../support/processes.ts'
import { openPageDriver, testTimeout } from './page-driver.ts'
import { startTimeout } from './panel-fixtures.ts'

const code = 'heron-stork-crane'
let chromium: Chromium
let process: RunningProcess
let folder: Awaited<ReturnType<typeof makePanelFolder>>

beforeAll(async () => {
  folder = await makePanelFolder()
  const env = { PORT: '0', HOST: 'localhost', DATA_DIR: folder.data, DEMO: 'false', SETUP_CODE: code }
  const starting = startProcess('functions/all/start.js', { env, ready: /Roost serves at/ })
  ;[process, chromium] = await Promise.all([starting, startChromium()])
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await process?.stop()
  await folder?.remove()
})

describe('a panel without users', { timeout: testTimeout }, () => {
  it('is set up in the browser, and shows what is next until it is done or skipped', async () => {
    const url = /http:\/\/localhost:\d+/.exec(process.output())?.[0] ?? ''
    const { page, button, heading, problems, ...driver } = await openPageDriver(chromium, url)
    driver.expectProblem(/422/)
    await page.goto('/auth/login')
    await page.waitForURL('**/auth/setup')
    const codeField = page.getByLabel('Set-up code')
    await codeField.fill('a guess')
    await page.getByLabel('Username').fill('first')
    await page.getByLabel('E-mail address').fill('first@roost.example')
    await page.getByLabel('Password', { exact: true }).fill('a long password')
    await page.locator('input[name=password_confirmation]').fill('a long password')
    await button('Set up').click()
    expect(await driver.fieldErrorOf(codeField)).not.toBe('')
    await codeField.fill(code)
    await button('Set up').click()
    await heading('The panel').waitFor()

    await page.goto('/admin')
    const steps = page.getByRole('list').filter({ hasText: 'First server' })
    const mail = steps.getByRole('listitem').filter({ hasText: 'Mail' })
    await mail.getByText('(open)').waitFor()
    await mail.getByRole('button', { name: 'Skip' }).click()
    await mail.getByText('(skipped)').waitFor()
    await steps.getByRole('link', { name: 'A location' }).click()
    await heading('A location').waitFor()
    await page.getByLabel('Short name').fill('home')
    await button('Save and continue').click()
    await heading('A node').waitFor()
    await page.goBack()
    await page.getByRole('listitem').filter({ hasText: 'home' }).waitFor()
    await page.goto('/admin')
    await steps.getByRole('listitem').filter({ hasText: 'A location' }).getByText('(done)').waitFor()
    await button('Put the checklist away').click()
    await steps.waitFor({ state: 'detached' })
    expect(problems()).toEqual([])
  })
})
