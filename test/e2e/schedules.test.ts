import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPglite } from '../../src/platform/local/pglite.ts'
import { addNode, demoServer, type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { eventually } from '../support/processes.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'

let panel: PanelProcess
let daemon: StubDaemon
let server: string

beforeAll(async () => {
  panel = await startPanelProcess()
  daemon = await startStubDaemon()
  server = await installServer()
})
afterAll(async () => {
  await panel?.stop()
  await daemon?.close()
})
beforeEach(() => {
  daemon.respond(null)
  daemon.calls.length = 0
})

/** Creates a server of the user on a node whose daemon only records its calls; returns its identifier. */
async function installServer(): Promise<string> {
  const node = await addNode(panel, 'remembering', '27000', daemon.port)
  const users = await panel.asAdmin('GET', '/users')
  const player = users.body.data.find(
    ({ attributes }: any) => attributes.username === panel.bootstrap.user.username,
  )
  const input = await demoServer(panel, player.attributes.id, node.allocations[0] ?? 0)
  const { body } = await panel.asAdmin('POST', '/servers', input)
  const configuration = await panel.asAdmin('GET', `/nodes/${node.id}/configuration`)
  const { token_id: id, token } = configuration.body
  const report = await fetch(`${panel.bootstrap.url}/api/remote/servers/${body.attributes.uuid}/install`, {
    method: 'POST',
    headers: { authorization: `Bearer ${id}.${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ successful: true, reinstall: false }),
  })
  expect(report.status).toBe(204)
  return body.attributes.identifier
}

const ask = (method: string, path: string, body?: unknown) =>
  panel.asPlayer(method, `/servers/${server}/schedules${path}`, body)

/** Creates a schedule that sends `one` and then, even after a failure, `two`; executes it. */
async function runSchedule(fields: object = {}): Promise<number> {
  const times = { minute: '0', hour: '0', day_of_month: '1', month: '1', day_of_week: '*' }
  const { body } = await ask('POST', '', { name: 'Once', ...times, ...fields })
  const { id } = body.attributes
  for (const payload of ['one', 'two']) {
    const task = { action: 'command', payload, time_offset: 0, continue_on_failure: true }
    expect((await ask('POST', `/${id}/tasks`, task)).status).toBe(200)
  }
  expect((await ask('POST', `/${id}/execute`)).status).toBe(202)
  return id
}

const sentCommands = () => daemon.calls.flatMap(({ body }) => body?.commands ?? [])
const hears = (method: string, path: RegExp) => () =>
  daemon.calls.some((call) => call.method === method && path.test(call.path))

/** Kills the panel, and restarts it once the leases of its jobs have expired. */
async function killAndRestart(): Promise<void> {
  await panel.kill()
  daemon.respond(null)
  const database = await openPglite(join(panel.directory, 'data', 'database'))
  const held = await database.db.execute(sql`
    update jobs set leased_until = now(), run_at = now() where state = 'waiting' and leased_until > now() returning id`)
  await database.close()
  expect((held as unknown as { rows: unknown[] }).rows.length).toBeGreaterThan(0)
  await panel.restart()
}

/** Waits for the one run of a schedule to end; returns it. */
async function ending(id: number) {
  const run = await eventually(async () => {
    const { body } = await ask('GET', `/${id}/runs`)
    expect(body.data).toHaveLength(1)
    const { attributes } = body.data[0]
    return attributes.state !== 'running' && attributes
  }, 30)
  const { body } = await ask('GET', `/${id}`)
  expect(body.attributes.is_processing).toBe(false)
  expect(body.attributes.relationships.tasks.data.map((item: any) => item.attributes.is_queued)).toEqual([
    false,
    false,
  ])
  return [run.state, run.steps.map(({ state }: any) => state)]
}

describe('a panel that is killed', { timeout: 90_000 }, () => {
  it('before a step was sent makes it when it is back', async () => {
    daemon.respond((call) => (call.method === 'GET' ? { hang: true } : null))
    const id = await runSchedule({ only_when_online: true })
    await eventually(hears('GET', /^\/api\/servers\/[^/]+$/))
    await killAndRestart()
    expect(await ending(id)).toEqual(['succeeded', ['succeeded', 'succeeded']])
    expect(sentCommands()).toEqual(['one', 'two'])
  })

  it('while a step is being sent does not send it again, and goes on', async () => {
    daemon.respond((call) => (call.method === 'POST' ? { hang: true } : null))
    const id = await runSchedule()
    await eventually(hears('POST', /\/commands$/))
    await killAndRestart()
    expect(await ending(id)).toEqual(['succeeded', ['unknown', 'succeeded']])
    expect(sentCommands()).toEqual(['one', 'two'])
  })
})
