import type { Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Chromium, fetchRouted, startChromium } from '../../support/chromium.ts'
import { demoServer, type PanelProcess } from '../../support/panel-process.ts'
import { eventually } from '../../support/processes.ts'
import { openPageDriver, type PageDriver, stepTimeoutMs, testTimeout } from './page-driver.ts'
import { makeAccount, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import type { Account } from './player.ts'

let panel: PanelProcess
let chromium: Chromium
let friend: Account
const drivers: PageDriver[] = []

beforeAll(async () => {
  ;[panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
  const { body: demo } = await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)
  const { body: free } = await panel.asAdmin('GET', `/nodes/${demo.attributes.node}/allocations`)
  const ids = free.data.filter(({ attributes }: any) => !attributes.assigned)
  for (const [at, name] of ['Basalt', 'Granite'].entries()) {
    const input = await demoServer(panel, demo.attributes.user, ids[at].attributes.id)
    const { status, body } = await panel.asAdmin('POST', '/servers', { ...input, name })
    expect(status, JSON.stringify(body)).toBe(201)
    await eventually(async () => {
      const { body: made } = await panel.asPlayer('GET', `/servers/${body.attributes.identifier}`)
      return made.attributes?.is_installing === false
    }, 60)
  }
  friend = await makeAccount(panel, 'friend')
  const invited = await panel.asPlayer('POST', `/servers/${panel.bootstrap.server.identifier}/users`, {
    email: friend.email,
    permissions: ['websocket.connect', 'control.start'],
  })
  expect(invited.status, JSON.stringify(invited.body)).toBe(200)
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

async function signIn(account: Account | PanelProcess['bootstrap']['user']): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url)
  drivers.push(driver)
  await driver.signIn(account as Account)
  return driver
}

/** Answers with a page of a thousand servers like the first of those that there are. */
async function answerWithThousand(route: Route): Promise<void> {
  const url = new URL(route.request().url())
  const page = Number(url.searchParams.get('page'))
  const body = await (await fetchRouted(route, { url: `${url.origin}${url.pathname}` })).json()
  const [first] = body.data
  const data = Array.from({ length: 100 }, (_, at) => {
    const number = (page - 1) * 100 + at + 1
    const [identifier, uuid] = [
      `${10_000_000 + number}`,
      `${10_000_000 + number}-0000-4000-8000-000000000000`,
    ]
    return {
      ...first,
      attributes: { ...first.attributes, identifier, uuid, name: `World ${number}`, node: 'north' },
    }
  })
  const pagination = { ...body.meta.pagination, total: 1000, count: 100, current_page: page, total_pages: 10 }
  await route.fulfill({ json: { ...body, data, meta: { pagination } } })
}

const rowsOf = ({ page }: PageDriver) => page.getByRole('table', { name: 'Servers' }).getByRole('row')
const rowOf = (driver: PageDriver, name: string) => rowsOf(driver).filter({ hasText: name })

describe('the home page', { timeout: testTimeout }, () => {
  it('starts and stops a server from its row, puts what runs first, and filters by state', async () => {
    const driver = await signIn(panel.bootstrap.user)
    const { page } = driver
    await rowOf(driver, 'Granite').getByText('Offline').waitFor()
    await driver.button('Start Granite').click()
    await rowOf(driver, 'Granite').getByText('Running').waitFor()
    await driver.button('Stop Granite').waitFor()
    // The order is that of the states that nodes report every minute.
    const first = async () => {
      await page.reload()
      return rowsOf(driver).nth(1).innerText()
    }
    await expect.poll(first, { timeout: 2 * stepTimeoutMs, interval: 5000 }).toContain('Granite')
    await page.getByLabel('Filter by state').selectOption('Running')
    await expect.poll(() => rowsOf(driver).count(), { timeout: stepTimeoutMs }).toBe(2)
    await driver.button('Stop Granite').click()
    await rowOf(driver, 'Granite').getByText('Offline').waitFor()
    await page.getByLabel('Filter by state').selectOption('Starting')
    await page.getByText('No servers match').waitFor()
    await driver.button('Clear search and filters').click()
    await rowOf(driver, 'Basalt').waitFor()
  })

  it('keeps favourites and folders with the account, on every device', async () => {
    const driver = await signIn(panel.bootstrap.user)
    const { page } = driver
    await driver.button('Favourite: Basalt').click()
    await driver.button('Favourites').click()
    await expect.poll(() => rowsOf(driver).count(), { timeout: stepTimeoutMs }).toBe(2)
    await driver.button('All').click()
    await driver.button('New folder').click()
    const dialog = driver.dialog('New folder')
    await dialog.getByLabel('Name').fill('Survival')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('This folder is empty').waitFor()
    await driver.button('Show all servers').click()
    await page.getByRole('button', { name: 'Actions for Granite' }).click()
    await page.getByRole('menuitemradio', { name: 'Survival' }).click()
    const other = await signIn(panel.bootstrap.user)
    await other.page.getByRole('button', { name: /^Survival/ }).click()
    await rowOf(other, 'Granite').waitFor()
    await expect.poll(() => rowsOf(other).count(), { timeout: stepTimeoutMs }).toBe(2)
    await other.button('Delete “Survival”').click()
    await other.confirmation('Delete the folder').getByRole('button', { name: 'Delete' }).click()
    await rowOf(other, 'Granite').waitFor()
    await expect.poll(() => new URL(other.page.url()).search, { timeout: stepTimeoutMs }).toBe('')
    await rowOf(other, 'Basalt').waitFor()
    await other.page.getByRole('button', { name: /^Survival/ }).waitFor({ state: 'hidden' })
  })

  it('sends a signal to several servers, and says of each what became of it', async () => {
    const driver = await signIn(panel.bootstrap.user)
    const { page } = driver
    const suspension = (verb: string) =>
      panel.asAdmin('POST', `/servers/${panel.bootstrap.server.id}/${verb}`)
    onTestFinished(async () => void (await suspension('unsuspend')))
    expect((await suspension('suspend')).status).toBe(204)
    await page.reload()
    await driver.button('Select several servers').click()
    for (const name of ['Basalt', 'Granite', 'Demo server'])
      await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await page.getByText('3 selected').waitFor()
    await driver.button('Start').click()
    const dialog = driver.dialog('Start servers')
    await dialog.getByText('Sent to 2 of 3 servers').waitFor()
    const resultOf = (name: string) => dialog.getByRole('listitem').filter({ hasText: name })
    await resultOf('Basalt').getByText('Sent').waitFor()
    await resultOf('Demo server').getByText('Not possible in its current state.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await rowOf(driver, 'Basalt').getByText('Running').waitFor()
    await driver.button('Stop').click()
    await driver.dialog('Stop servers').getByText('Sent to 2 of 3 servers').waitFor()
  })

  it('renders of a thousand servers those in view, and filters by what the others have', async () => {
    const driver = await signIn(panel.bootstrap.user)
    const { page } = driver
    await page.route('**/api/client/servers?*', answerWithThousand)
    await page.route('**/api/client/servers/resources?*', (route) =>
      route.fulfill({ json: { object: 'list', data: [], meta: { unavailable: [] } } }),
    )
    const names = { object: 'server_filters', attributes: { nodes: ['north', 'south'], eggs: ['Demo'] } }
    await page.route('**/api/client/account/servers/filters?*', (route) => route.fulfill({ json: names }))
    await page.reload()
    await page.getByText('1,000 servers').waitFor()
    await rowOf(driver, 'World 1').first().waitFor()
    expect(await rowsOf(driver).count()).toBeLessThan(60)
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await rowOf(driver, 'World 1000').waitFor()
    expect(await rowsOf(driver).count()).toBeLessThan(60)
    // No server of the first page is there.
    await page.getByLabel('Filter by node').selectOption('south')
    await expect.poll(() => new URL(page.url()).search).toBe('?node=south')
    expect(await page.getByLabel('Filter by node').locator('option').allInnerTexts()).toEqual([
      'Any node',
      'north',
      'south',
    ])
    // A request that is still answered would fail when the page is closed.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('begins with the list of the last visit until the new one is there, and forgets it at sign-out', async () => {
    const driver = await signIn(panel.bootstrap.user)
    const { page, button, choose } = driver
    await rowOf(driver, 'Basalt').waitFor()
    const { body } = await panel.asPlayer('GET', '?filter[name]=Basalt')
    const rename = (name: string) =>
      panel.asPlayer('POST', `/servers/${body.data[0].attributes.identifier}/settings/rename`, { name })
    const waiting: Route[] = []
    await page.route('**/api/client/servers?*', (route) => void waiting.push(route))
    await page.reload()
    await rowOf(driver, 'Basalt').waitFor()
    expect((await rename('Obsidian')).status).toBe(204)
    await expect.poll(() => waiting.length, { timeout: stepTimeoutMs }).toBeGreaterThan(0)
    for (const route of waiting) await route.continue()
    await rowOf(driver, 'Obsidian').waitFor()
    expect(await rowOf(driver, 'Basalt').count()).toBe(0)
    expect((await rename('Basalt')).status).toBe(204)

    // A list that is refused is not shown as if it were current.
    driver.expectProblem(/400/)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.route('**/api/client/servers?*', (route) =>
      route.fulfill({ status: 400, json: { errors: [] } }),
    )
    await page.reload()
    await page.getByRole('main').getByRole('alert').waitFor()
    expect(await rowsOf(driver).count()).toBe(0)

    await choose('Account menu', 'Sign out')
    await button('Sign in').waitFor()
    expect(await page.evaluate(() => localStorage.getItem('roost.last-list'))).toBe(null)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('offers a subuser only what they may do', async () => {
    const driver = await signIn(friend)
    const { page } = driver
    await rowOf(driver, 'Demo server').waitFor()
    await page.getByRole('button', { name: 'Actions for Demo server' }).click()
    await page.getByRole('menuitem', { name: 'Start' }).waitFor()
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Start', 'Console'])
  })
})
