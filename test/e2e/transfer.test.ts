import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodes } from '../../src/db/schema.ts'
import { type RunningDaemon, startDaemon } from '../../src/dev/daemon/start.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
} from '../support/factories.ts'
import { eventually } from '../support/processes.ts'
import { useWorld } from '../support/world.ts'

type TestNode = Awaited<ReturnType<typeof makeNode>>

const world = useWorld()
let directory: string
let http: Server
let old: TestNode
let fresh: TestNode
let server: Awaited<ReturnType<typeof makeServer>>
let daemons: RunningDaemon[]
let token: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-transfer-'))
  http = createServer(getRequestListener(world.app.fetch))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  old = await makeNode(world)
  fresh = await makeNode(world)
  const egg = await makeEgg(world, { features: ['local_runtime'] })
  server = await makeServer(world, { node: old, egg, startup: 'node server.mjs' })
  daemons = [await startNode(old), await startNode(fresh)]
  token = await makeApplicationToken(world)
})

afterEach(async () => {
  await Promise.all(daemons.map((daemon) => daemon.close()))
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
  await rm(directory, { recursive: true, force: true })
})

/** Returns the daemon of a node, as the row of the node says. */
async function startNode(node: TestNode): Promise<RunningDaemon> {
  const daemon = await startDaemon({
    panelUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    tokenId: node.daemonTokenId,
    token: node.secret,
    uuid: node.uuid,
    dataDirectory: join(directory, node.uuid),
  })
  await daemon.ready
  await world.database.db.update(nodes).set({ daemonListen: daemon.port }).where(eq(nodes.id, node.id))
  return daemon
}

const folderOn = (node: TestNode) => join(directory, node.uuid, 'volumes', server.uuid)
const worldOn = async (node: TestNode) =>
  createHash('sha256')
    .update(await readFile(join(folderOn(node), 'world', 'level.dat')))
    .digest('hex')
const at = () => `/api/application/servers/${server.id}/transfer`
const transfer = async () =>
  (await world.request('GET', at(), { token })).body.attributes as Record<string, unknown>

describe('a server with a world', () => {
  it('moves to another node, is gone from the old one, and starts there', { timeout: 60_000 }, async () => {
    await mkdir(join(folderOn(old), 'world'), { recursive: true })
    await writeFile(join(folderOn(old), 'world', 'level.dat'), randomBytes(2_000_000))
    await writeFile(
      join(folderOn(old), 'server.mjs'),
      "console.log('ready on ' + process.env.SERVER_PORT); setInterval(() => {}, 1000)",
    )
    const digest = await worldOn(old)
    const allocation = await makeAllocation(world, fresh)

    const body = { node: fresh.id, allocation: allocation.id }
    expect((await world.request('POST', at(), { token, body })).status).toBe(202)
    await eventually(async () => (await transfer()).successful === true)
    await eventually(async () => {
      await world.runJobs()
      return !existsSync(folderOn(old))
    })

    expect(await worldOn(fresh)).toBe(digest)
    const client = await makeClientToken(world, { id: server.ownerId })
    const path = `/api/client/servers/${server.uuid}`
    const start = { token: client, body: { signal: 'start' } }
    expect((await world.request('POST', `${path}/power`, start)).status).toBe(204)
    await eventually(async () => {
      const { body: shown } = await world.request('GET', `${path}/resources`, { token: client })
      world.clock.advance(21)
      return shown.attributes.current_state === 'running'
    })
  })

  it('stays where it was when the new node loses its files on the way', { timeout: 60_000 }, async () => {
    await mkdir(folderOn(old), { recursive: true })
    await writeFile(join(folderOn(old), 'kept'), 'kept')
    const allocation = await makeAllocation(world, fresh)
    daemons[1]?.faults.push({ route: 'POST /api/transfers', effect: 'fail', status: 500 })

    const body = { node: fresh.id, allocation: allocation.id }
    expect((await world.request('POST', at(), { token, body })).status).toBe(202)
    await eventually(async () => (await transfer()).successful === false)
    await world.runJobs()
    expect(await readFile(join(folderOn(old), 'kept'), 'utf8')).toBe('kept')
    expect(existsSync(folderOn(fresh))).toBe(false)
    expect(await world.database.db.select().from(nodes).where(eq(nodes.id, fresh.id))).toMatchObject([
      { usedMemory: 0, usedDisk: 0 },
    ])
  })
})
