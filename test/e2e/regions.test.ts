import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfigFile } from '../../src/dev/daemon/config-file.ts'
import { type RunningDaemon, startDaemon } from '../../src/dev/daemon/start.ts'
import { openSocket } from '../support/development-daemon.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { freePort } from '../support/panel-process.ts'
import { eventually } from '../support/processes.ts'
import { panelUrl, useWorld } from '../support/world.ts'

/** Starts an endpoint of the panel that records the requests of daemons. */
type Endpoint = { http: Server; origin: string; requests: string[] }

const world = useWorld()
let directory: string
let eu: Endpoint
let us: Endpoint
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>
let places: { fra: number; nyc: number }
let daemon: RunningDaemon | null
let token: string
let ownersToken: string

const admin = async (method: string, path: string, body?: unknown) => {
  const answer = await world.request(method, `/api/application/${path}`, {
    token,
    ...(body === undefined ? {} : { body }),
  })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body
}
const configFile = () => join(directory, 'config.json')
const written = async () => JSON.parse(await readFile(configFile(), 'utf8')) as Record<string, unknown>

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-regions-'))
  eu = await openEndpoint()
  us = await openEndpoint()
  daemon = null
  token = await makeApplicationToken(world)
  await admin('PATCH', 'settings', { regions: { endpoints: { eu: eu.origin, us: us.origin } } })
  places = { fra: await addLocation('fra', 'eu'), nyc: await addLocation('nyc', 'us') }
  node = await makeNode(world, { locationId: places.fra, daemonListen: await freePort() })
  const owner = await makeUser(world)
  server = await makeServer(world, { node, ownerId: owner.id })
  ownersToken = await makeClientToken(world, owner)
  await writeFile(configFile(), JSON.stringify(await admin('GET', `nodes/${node.id}/configuration`)))
  await restartDaemon()
})

afterEach(async () => {
  await daemon?.close()
  await Promise.all([eu, us].map(closeEndpoint))
  await rm(directory, { recursive: true, force: true })
})

async function openEndpoint(): Promise<Endpoint> {
  const requests: string[] = []
  const answer = getRequestListener(world.app.fetch)
  const http = createServer((request, response) => {
    requests.push(`${request.method} ${(request.url ?? '').split('?')[0]}`)
    void answer(request, response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return { http, requests, origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}` }
}

async function closeEndpoint({ http }: Endpoint): Promise<void> {
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
}

async function addLocation(short: string, region: string): Promise<number> {
  return (await admin('POST', 'locations', { short, region })).attributes.id
}

/** Restarts the daemon with the configuration that it wrote itself, and clears the recorded requests. */
async function restartDaemon(): Promise<void> {
  await daemon?.close()
  eu.requests.length = 0
  us.requests.length = 0
  daemon = await startDaemon({
    ...(await readConfigFile(configFile())),
    dataDirectory: join(directory, 'data'),
  })
  await daemon.ready
}

/** Waits until a browser at the origin has a console. Rejects when the daemon refuses the origin. */
const openConsole = (origin: string) => eventually(async () => (await firstEvent(origin)) === 'auth success')

/** Returns the first event of the console; a daemon that started in the same second reports an expired token. */
async function firstEvent(origin: string): Promise<string | undefined> {
  world.clock.now = new Date()
  const { body } = await world.request('GET', `/api/client/servers/${server.uuid}/websocket`, {
    token: ownersToken,
  })
  const socket = await openSocket(daemon!, server.uuid, origin, body.data.token)
  try {
    return (await eventually(() => socket.frames[0] ?? null)).event
  } finally {
    socket.close()
  }
}

/** Returns the origin from which a browser may read responses of the daemon. */
const readableBy = async () =>
  (await fetch(`${daemon!.url}/api/system`, { headers: { origin: panelUrl } })).headers.get(
    'access-control-allow-origin',
  )

describe('a node that moves to another region', () => {
  it('calls the endpoint there once its daemon has started anew', { timeout: 60_000 }, async () => {
    expect(eu.requests).toContain('GET /api/remote/servers')
    expect(us.requests).toEqual([])
    await admin('PATCH', `nodes/${node.id}`, { location_id: places.nyc })
    expect(await written()).toMatchObject({ remote: us.origin, allowed_origins: [panelUrl] })
    await admin('POST', `servers/${server.id}/suspend`)
    await eventually(() => eu.requests.includes(`GET /api/remote/servers/${server.uuid}`))
    expect(us.requests).toEqual([])
    await restartDaemon()
    expect(us.requests).toContain('GET /api/remote/servers')
    await eventually(() => us.requests.includes('POST /api/remote/servers/reset'))
    expect(eu.requests).toEqual([])
  })

  it('lets browsers of the panel in all the while', { timeout: 60_000 }, async () => {
    await openConsole(panelUrl)
    expect(await readableBy()).toBe(panelUrl)
    await admin('PATCH', `nodes/${node.id}`, { location_id: places.nyc })
    await openConsole(panelUrl)
    expect(await readableBy()).toBe(panelUrl)
    await restartDaemon()
    await openConsole(panelUrl)
    expect(await readableBy()).toBe(panelUrl)
    await expect(openConsole('https://evil.test')).rejects.toThrow('403')
  })

  it('may move because its location or the region does', { timeout: 60_000 }, async () => {
    await admin('PATCH', `locations/${places.fra}`, { region: 'us' })
    await world.runJobs()
    await world.runJobs()
    expect(await written()).toMatchObject({ remote: us.origin })
    await restartDaemon()
    expect([eu.requests, us.requests.length > 0]).toEqual([[], true])

    await admin('PATCH', `locations/${places.nyc}`, { region: null })
    await admin('PATCH', 'settings', { regions: { endpoints: { us: eu.origin } } })
    await world.runJobs()
    await world.runJobs()
    await restartDaemon()
    expect([eu.requests.length > 0, us.requests]).toEqual([true, []])
  })

  it('goes back to the panel itself without a region', { timeout: 60_000 }, async () => {
    await admin('PATCH', `locations/${places.fra}`, { region: null })
    await world.runJobs()
    await world.runJobs()
    expect(await written()).toMatchObject({ remote: panelUrl })
    await openConsole(panelUrl)
  })
})
