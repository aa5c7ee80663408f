import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole as openConsoleWith } from '../support/console.ts'
import { addNode, demoServer, type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { eventually } from '../support/processes.ts'

let panel: PanelProcess

beforeAll(async () => {
  panel = await startPanelProcess()
})
afterAll(() => panel?.stop())

/** Opens the console of the user's server. */
async function openConsole(identifier: string) {
  const { body } = await panel.asPlayer('GET', `/servers/${identifier}/websocket`)
  return openConsoleWith(body.data, panel.bootstrap.url)
}

// The use of a server is cached for 20 seconds, so its change is seen late.
describe('from an empty machine to a running game server', { timeout: 90_000 }, () => {
  it('serves, with keys that only its owner can read, and every part healthy', async () => {
    expect((await stat(join(panel.directory, 'data', 'bootstrap.json'))).mode & 0o777).toBe(0o600)
    const health = await fetch(`${panel.bootstrap.url}/health`)
    expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok' }])
    const { body } = await panel.asPlayer('GET', '')
    expect(body.data.map((item: any) => item.attributes)).toMatchObject([
      {
        identifier: panel.bootstrap.server.identifier,
        server_owner: true,
        status: null,
        is_installing: false,
      },
    ])
  })

  it('creates location, node, allocations, user and server; its daemon installs it', async () => {
    const node = await addNode(panel, 'e2e', '26000-26002')
    await panel.startDaemon(node.id)
    const user = await panel.asAdmin('POST', '/users', {
      email: 'mia@example.test',
      username: 'mia',
      first_name: 'Mia',
      last_name: 'Miner',
    })
    expect(user.status).toBe(201)
    const input = await demoServer(panel, user.body.attributes.id, node.allocations[0] ?? 0)
    const created = await panel.asAdmin('POST', '/servers', input)
    expect([created.status, created.body.attributes?.status]).toEqual([201, 'installing'])
    const { id, identifier } = created.body.attributes
    await eventually(
      async () => (await panel.asAdmin('GET', `/servers/${id}`)).body.attributes.status === null,
    )
    expect((await panel.asPlayer('GET', `/servers/${identifier}`)).status).toBe(404)
    expect((await panel.asAdmin('DELETE', `/servers/${id}`)).status).toBe(204)
    expect((await panel.asAdmin('GET', `/servers/${id}`)).status).toBe(404)
  })

  it('lets its player start the server, watch it, type into it, and stop it', async () => {
    const server = `/servers/${panel.bootstrap.server.identifier}`
    const state = async () =>
      (await panel.asPlayer('GET', `${server}/resources`)).body.attributes.current_state
    const console = await openConsole(panel.bootstrap.server.identifier)
    expect((await panel.asPlayer('POST', `${server}/power`, { signal: 'start' })).status).toBe(204)
    await eventually(console.isIn('running'))
    await eventually(async () => (await state()) === 'running', 30)

    console.send('send command', 'say from the socket')
    await eventually(console.seen('console output', 'from the socket'))
    expect((await panel.asPlayer('POST', `${server}/command`, { command: 'say over HTTP' })).status).toBe(204)
    await eventually(console.seen('console output', 'over HTTP'))

    expect((await panel.asPlayer('POST', `${server}/power`, { signal: 'stop' })).status).toBe(204)
    await eventually(console.isIn('offline'))
    expect((await panel.asPlayer('POST', `${server}/command`, { command: 'list' })).status).toBe(502)
    console.socket.close()
  })

  it('comes back after a restart with the same keys and servers', async () => {
    await panel.restart()
    const server = `/servers/${panel.bootstrap.server.identifier}`
    expect((await panel.asPlayer('GET', server)).status).toBe(200)
    expect((await panel.asPlayer('POST', `${server}/power`, { signal: 'start' })).status).toBe(204)
    const state = async () =>
      (await panel.asPlayer('GET', `${server}/resources`)).body.attributes.current_state
    await eventually(async () => (await state()) === 'running', 45)
    expect((await panel.asPlayer('POST', `${server}/power`, { signal: 'kill' })).status).toBe(204)
  })
})
