import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { createDatabase } from '../../support/database.ts'
import { addNode, type PanelProcess } from '../../support/panel-process.ts'
import { type StubDaemon, startStubDaemon } from '../../support/stub-daemon.ts'
import { type EggRepository, fetchesFromRepository, startEggRepository } from './egg-repository.ts'
import { openPageDriver, type PageDriver, testTimeout } from './page-driver.ts'
import { makeAccount, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'
import type { Account } from './player.ts'
import { importEggs, makeTenServers, updateEgg } from './week-eggs.ts'
import { helpCustomer, hireHelper, settlePanel } from './week-people.ts'
import { actOnTen, moveServers, outliveNode } from './week-servers.ts'
import type { Place, Week } from './week.ts'

const hasPostgres = await findPostgres('the week of a host')
/** What a browser says about a node that does not answer, and about what a role may not see. */
const expectedProblems = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|status of 40[34]/

let panel: PanelProcess
let chromium: Chromium
let eggs: EggRepository
let database: Awaited<ReturnType<typeof createDatabase>>
let silent: StubDaemon
let place: Place
const drivers: PageDriver[] = []

async function sitDown(account: Account): Promise<PageDriver> {
  const driver = await openPageDriver(chromium, panel.bootstrap.url)
  driver.expectProblem(expectedProblems)
  drivers.push(driver)
  await driver.signIn(account)
  return driver
}

/** Lets the day pass after which a job is abandoned. */
async function expireJobs(): Promise<void> {
  const sql = postgres(database.url, { max: 1 })
  await sql`update jobs set deadline_at = now() where name = 'sync-server' and state = 'waiting'`
  await sql.end()
}

const steps = [
  'admin:egg.fetch',
  'admin:egg.import',
  'admin:server.create',
  'admin:bulk.start',
  'admin:transfer.start',
  'admin:transfer.cancel',
  'admin:server.suspend',
  'admin:job.retry',
  'admin:server.unsuspend',
  'admin:user.suspend',
  'admin:user.unsuspend',
  'admin:user.reset-two-factor',
  'admin:user.act',
  'server:settings.rename',
  'admin:user.leave',
  'admin:role.create',
  'admin:settings.test',
  'admin:settings.update',
]

/** Reads the log from its newest page on until it has shown every step with its actor. */
async function readLog({ driver, customer }: Week): Promise<void> {
  const { page, button } = driver
  const { username } = panel.bootstrap.admin
  const missing = new Set(steps)
  await page.goto('/admin/activity?columns=actor,name')
  for (let number = 2; ; number += 1) {
    const rows = page.getByRole('table', { name: 'Activity' }).getByRole('row')
    await rows.nth(1).waitFor()
    for (const text of await rows.allInnerTexts()) {
      const [, actor = '', event = ''] = text.split('\t').map((cell) => cell.trim())
      const [first, ...others] = actor.split('\n')
      if (event === 'server:settings.rename') expect(others).toEqual([`for ${customer.username}`])
      if (first === username) missing.delete(event)
    }
    const next = button('Next page')
    if (missing.size === 0 || (await next.count()) === 0 || (await next.isDisabled())) break
    await next.click()
    await page.getByText(new RegExp(`^Page ${number} of`)).waitFor()
  }
  expect([...missing]).toEqual([])
}

describe.skipIf(!hasPostgres)('a host', { timeout: testTimeout }, () => {
  /** Starts a panel whose nodes are one that works, one with a daemon of its own, and one that takes archives and says nothing. */
  beforeAll(async () => {
    ;[eggs, database] = await Promise.all([startEggRepository(), createDatabase()])
    ;[panel, chromium, silent] = await Promise.all([
      startLocalhostPanel({ ...fetchesFromRepository, DATABASE_URL: database.url }),
      startChromium(),
      startStubDaemon(),
    ])
    silent.respond(({ path }) => (path.includes('transfer') ? { hang: true } : null))
    const { body: demo } = await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)
    const ports = { ip: '127.0.0.1', ports: ['25600-25619'] }
    await panel.asAdmin('POST', `/nodes/${demo.attributes.node}/allocations`, ports)
    const spare = await addNode(panel, 'Spare', '25700-25703')
    await addNode(panel, 'Mute', '25710-25713', silent.port)
    const spareDaemon = await panel.startDaemon(spare.id)
    place = { panel, chromium, eggs, spare, spareDaemon, expireJobs, sitDown }
  }, startTimeout)
  afterAll(async () => {
    await chromium?.close()
    await panel?.stop()
    await Promise.all([silent?.close(), eggs?.close(), database?.drop()])
  })
  afterEach(async () => {
    const opened = drivers.splice(0)
    expect(opened.flatMap(({ problems }) => problems())).toEqual([])
    await Promise.all(opened.map(({ context }) => context.close()))
  })

  it('has a week, and the log shows each step with its actor', async () => {
    const tag = randomUUID().slice(0, 8)
    const customer = await makeAccount(panel, 'customer')
    const found = await panel.asAdmin('GET', `/users?filter[email]=${customer.email}`)
    const customerId: number = found.body.data[0].attributes.id
    const driver = await sitDown(panel.bootstrap.admin)
    const week: Week = { place, driver, tag, egg: `Basalt ${tag}`, customer, customerId }
    await importEggs(week)
    await makeTenServers(week)
    await updateEgg(week)
    await actOnTen(week)
    await moveServers(week)
    await outliveNode(week)
    await helpCustomer(week)
    await hireHelper(week)
    await settlePanel(week)
    await readLog(week)
  })
})
