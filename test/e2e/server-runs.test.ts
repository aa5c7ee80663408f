import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

let directory: string
let panel: RunningProcess
let daemon: RunningProcess | null = null
let bootstrap: Bootstrap

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-e2e-'))
  panel = await startPanel()
  bootstrap = JSON.parse(await readFile(join(directory, 'data', 'bootstrap.json'), 'utf8')) as Bootstrap
})

afterAll(async () => {
  await daemon?.stop()
  await panel?.stop()
  await rm(directory, { recursive: true, force: true })
})

const startPanel = () =>
  startProcess('functions/all/node.ts', {
    env: { PORT: '0', DATA_DIR: join(directory, 'data') },
    ready: /Roost serves at/,
  })

/** A call as curl makes it: the whole answer, and nothing but the wire. */
async function call(key: string, method: string, path: string, body?: unknown) {
  const answer = await fetch(`${bootstrap.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json',
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

const asAdmin = (method: string, path: string, body?: unknown) =>
  call(bootstrap.application_key, method, `/api/application${path}`, body)
const asPlayer = (method: string, path: string, body?: unknown) =>
  call(bootstrap.user.client_key, method, `/api/client${path}`, body)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

/** Opens the console as a browser does, and remembers every frame. */
async function openConsole(identifier: string) {
  const { body } = await asPlayer('GET', `/servers/${identifier}/websocket`)
  const socket = new WebSocket(body.data.socket, { origin: bootstrap.url })
  const frames: { event: string; args?: string[] }[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data))))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const send = (event: string, ...args: string[]) => socket.send(JSON.stringify({ event, args }))
  send('auth', body.data.token)
  const seen = (event: string, text: string) => () =>
    frames.some((frame) => frame.event === event && (frame.args ?? []).join('').includes(text))
  await eventually(seen('auth success', ''))
  /** Whether the newest status is this one. */
  const isIn = (state: string) => () =>
    frames.findLast(({ event }) => event === 'status')?.args?.[0] === state
  return { socket, send, seen, isIn }
}

// The use of a server is cached for 20 seconds, so its change is seen late.
describe('from an empty machine to a running game server', { timeout: 90_000 }, () => {
  it('serves, with keys for nobody but its owner, and every part healthy', async () => {
    expect((await stat(join(directory, 'data', 'bootstrap.json'))).mode & 0o777).toBe(0o600)
    const health = await fetch(`${bootstrap.url}/health`)
    expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok' }])
    const { body } = await asPlayer('GET', '')
    expect(body.data.map((item: any) => item.attributes)).toMatchObject([
      { identifier: bootstrap.server.identifier, server_owner: true, status: null, is_installing: false },
    ])
  })

  it('creates location, node, allocations, user and server; installs, starts, talks and stops', async () => {
    const location = await asAdmin('POST', '/locations', { short: 'e2e', long: 'End to end' })
    expect(location.status).toBe(201)
    const port = await freePort()
    const node = await asAdmin('POST', '/nodes', {
      name: 'e2e-node',
      location_id: location.body.attributes.id,
      fqdn: '127.0.0.1',
      scheme: 'http',
      memory: 4096,
      memory_overallocate: 0,
      disk: 10_240,
      disk_overallocate: 0,
      daemonListen: port,
      daemonSFTP: 2022,
    })
    expect(node.status).toBe(201)
    const nodeId = node.body.attributes.id
    const configuration = await asAdmin('GET', `/nodes/${nodeId}/configuration`)
    const file = join(directory, 'node.json')
    await writeFile(file, JSON.stringify(configuration.body))
    daemon = await startProcess('src/platform/local/daemon/main.ts', {
      args: ['--config', file, '--data', join(directory, 'node')],
      ready: /The daemon listens at/,
    })

    const made = await asAdmin('POST', `/nodes/${nodeId}/allocations`, {
      ip: '127.0.0.1',
      ports: ['26000-26002'],
    })
    expect(made.status).toBe(204)
    const allocations = await asAdmin('GET', `/nodes/${nodeId}/allocations`)
    const user = await asAdmin('POST', '/users', {
      email: 'mia@example.test',
      username: 'mia',
      first_name: 'Mia',
      last_name: 'Miner',
    })
    expect(user.status).toBe(201)
    const nests = await asAdmin('GET', '/nests?include=eggs.variables')
    const egg = nests.body.data
      .flatMap((nest: any) => nest.attributes.relationships.eggs.data)
      .find((item: any) => item.attributes.name === 'Demo').attributes
    const input = {
      name: 'First world',
      user: user.body.attributes.id,
      egg: egg.id,
      docker_image: egg.docker_image,
      startup: egg.startup,
      environment: Object.fromEntries(
        egg.relationships.variables.data.map(({ attributes }: any) => [
          attributes.env_variable,
          attributes.default_value,
        ]),
      ),
      limits: { memory: 256, swap: 0, disk: 512, io: 500, cpu: 100 },
      feature_limits: { databases: 0, backups: 0 },
      allocation: { default: allocations.body.data[0].attributes.id },
    }
    const created = await asAdmin('POST', '/servers', input)
    expect([created.status, created.body.attributes?.status]).toEqual([201, 'installing'])
    const { id, identifier } = created.body.attributes

    await eventually(async () => (await asAdmin('GET', `/servers/${id}`)).body.attributes.status === null)
    expect((await asPlayer('GET', `/servers/${identifier}`)).status).toBe(404)
    expect((await asAdmin('DELETE', `/servers/${id}`)).status).toBe(204)
    expect((await asAdmin('GET', `/servers/${id}`)).status).toBe(404)
  })

  it('lets its player start the server, watch it, type into it, and stop it', async () => {
    const server = `/servers/${bootstrap.server.identifier}`
    const state = async () => (await asPlayer('GET', `${server}/resources`)).body.attributes.current_state
    const console = await openConsole(bootstrap.server.identifier)
    expect((await asPlayer('POST', `${server}/power`, { signal: 'start' })).status).toBe(204)
    await eventually(console.isIn('running'))
    await eventually(async () => (await state()) === 'running', 30)

    console.send('send command', 'say from the socket')
    await eventually(console.seen('console output', 'from the socket'))
    expect((await asPlayer('POST', `${server}/command`, { command: 'say over HTTP' })).status).toBe(204)
    await eventually(console.seen('console output', 'over HTTP'))

    expect((await asPlayer('POST', `${server}/power`, { signal: 'stop' })).status).toBe(204)
    await eventually(console.isIn('offline'))
    expect((await asPlayer('POST', `${server}/command`, { command: 'list' })).status).toBe(502)
    console.socket.close()
  })

  it('comes back after a restart with the same keys and servers', async () => {
    await panel.stop()
    panel = await startPanel()
    bootstrap = JSON.parse(await readFile(join(directory, 'data', 'bootstrap.json'), 'utf8')) as Bootstrap
    const server = `/servers/${bootstrap.server.identifier}`
    expect((await asPlayer('GET', server)).status).toBe(200)
    expect((await asPlayer('POST', `${server}/power`, { signal: 'start' })).status).toBe(204)
    await eventually(
      async () => (await asPlayer('GET', `${server}/resources`)).body.attributes.current_state === 'running',
      45,
    )
    expect((await asPlayer('POST', `${server}/power`, { signal: 'kill' })).status).toBe(204)
  })
})
