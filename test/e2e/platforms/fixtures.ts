import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { runOperation } from '../../../src/cli/run-operation.ts'
import type { CreatedKey } from '../../../src/cli/operations/key-create.ts'
import { readEnv } from '../../../src/platform/env.ts'
import type { RunningDaemon } from '../../../src/dev/daemon/start.ts'
import { type CloudServices, openCloudServices } from '../../support/cloud-services.ts'
import { startTestDaemon } from '../../support/development-daemon.ts'
import { openTestStore, type TestStore } from '../../support/object-store.ts'
import { addNode, type Administrated, demoServer, freePort } from '../../support/panel-process.ts'
import { eventually } from '../../support/processes.ts'
import type { RawAnswer } from '../../support/raw-http.ts'
import type { OpenPlatform, Platform } from './platform.ts'
import { openBrowser, type Wire, type WireRequest, wireTo } from './wire.ts'

/** A panel on one platform with its services, and a user whose server is installed. */
export type Fixtures = {
  platform: Platform
  services: CloudServices
  store: TestStore
  daemon: RunningDaemon
  /** Sends without a credential; `asAdmin` and `asPlayer` add the start of the path and a key, `asOwner` the server too. */
  wire: Wire
  asAdmin: Wire
  asPlayer: Wire
  asOwner: Wire
  adminKey: string
  playerKey: string
  player: { id: number; username: string; email: string; password: string }
  node: { id: number; token: string; allocation: number }
  server: { id: number; uuid: string; identifier: string }
  /** The files of the server. */
  folder: string
  /** An address that no other suite uses, so that limits are not shared. */
  address: string
  close: () => Promise<void>
}

/** Opens all of it: what an operator does by the command line, everything else by the wire. */
export async function createFixtures(open: OpenPlatform): Promise<Fixtures> {
  const closers: Closers = []
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    return { ...(await build(open, closers)), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Close what was opened, the newest first. */
type Closers = (() => Promise<unknown>)[]

async function build(open: OpenPlatform, closers: Closers): Promise<Omit<Fixtures, 'close'>> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-platform-'))
  closers.push(() => rm(folder, { recursive: true, force: true }))
  const store = await openTestStore()
  closers.push(store.close)
  const services = await openCloudServices({ delivers: true })
  closers.push(services.close)
  await drawIds(services)
  const environment = { ...services.environment, ...environmentOf(store), LOG_LEVEL: 'warn' }
  const adminKey = await prepare(environment, folder)
  const platform = await open(environment)
  closers.push(platform.close)
  const wire = wireTo(platform.origin)
  const asAdmin = withKey(wire, '/api/application', adminKey)
  const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.1`
  const player = await addPlayer(asAdmin)
  const playerKey = await signInForKey(wire, platform.origin, address, player)
  const { daemon, node } = await addDaemon(asAdmin, platform, folder)
  closers.push(daemon.close)
  const server = await installServer(asAdmin, node.allocation, player.id)
  return {
    platform,
    services,
    store,
    daemon,
    wire,
    asAdmin,
    adminKey,
    playerKey,
    player,
    node,
    server,
    address,
    asPlayer: withKey(wire, '/api/client', playerKey),
    asOwner: withKey(wire, `/api/client/servers/${server.uuid}`, playerKey),
    folder: join(folder, 'daemon', 'volumes', server.uuid),
  }
}

const withKey =
  (wire: Wire, base: string, bearer: string): Wire =>
  (method, path, request: WireRequest = {}) =>
    wire(method, `${base}${path}`, { bearer, ...request })

/** Draws random ids, because panels of other suites share the cache and the database host, whose names contain ids. */
async function drawIds({ database }: CloudServices): Promise<void> {
  for (const table of ['users', 'nodes', 'servers']) {
    const first = randomInt(1, 2_000_000_000)
    await database.db.execute(sql.raw(`select setval('${table}_id_seq', ${first}, false)`))
  }
}

const environmentOf = ({ options }: TestStore) => ({
  S3_BUCKET: options.bucket,
  S3_REGION: options.region,
  S3_ENDPOINT: options.endpoint ?? '',
  S3_ACCESS_KEY_ID: options.accessKeyId,
  S3_SECRET_ACCESS_KEY: options.secretAccessKey,
  S3_PATH_STYLE: 'true',
})

/** Prepares the database as an operator does before the first start: eggs, an administrator and a key. */
async function prepare(environment: Record<string, string>, folder: string): Promise<string> {
  const env = readEnv({ ...environment, DATA_DIR: join(folder, 'operator') })
  const admin = { username: 'root', email: 'root@example.test', root_admin: true }
  await runOperation(env, { verb: 'seed', input: null })
  await runOperation(env, { verb: 'user:create', input: admin })
  const key = await runOperation(env, { verb: 'key:create', input: { user: 'root', type: 'application' } })
  return (key as CreatedKey).token
}

/** Expects this status; returns the body. */
export function expectStatus(answer: RawAnswer, status: number): any {
  expect([answer.status, answer.status === status ? '' : answer.text]).toEqual([status, ''])
  return answer.body
}

async function addPlayer(asAdmin: Wire): Promise<Fixtures['player']> {
  const account = { username: 'mia', email: 'mia@example.test', password: 'correct horse battery staple' }
  const json = { ...account, first_name: 'Mia', last_name: 'Miner' }
  const { attributes } = expectStatus(await asAdmin('POST', '/users', { json }), 201)
  return { id: attributes.id, ...account }
}

async function signInForKey(wire: Wire, origin: string, from: string, player: Fixtures['player']) {
  const browser = openBrowser(wire, origin, from)
  expectStatus(await browser.send('GET', '/sanctum/csrf-cookie'), 204)
  const json = { user: player.username, password: player.password }
  expectStatus(await browser.send('POST', '/auth/login', { json }), 200)
  const key = await browser.send('POST', '/api/client/account/api-keys', { json: { description: 'app' } })
  const { attributes, meta } = expectStatus(key, 200)
  return `${attributes.identifier}${meta.secret_token}`
}

/** Adds a node with an allocation, and starts its daemon. */
async function addDaemon(asAdmin: Wire, { origin }: Platform, folder: string) {
  const { id, allocations } = await addNode(administrated(asAdmin), 'here', String(await freePort()))
  const configuration = expectStatus(await asAdmin('GET', `/nodes/${id}/configuration`), 200)
  expect(configuration.remote).toBe(origin)
  const { token_id: tokenId, token, uuid, api } = configuration
  const daemon = await startTestDaemon(
    { url: configuration.remote },
    {
      tokenId,
      token,
      uuid,
      port: api.port,
      dataDirectory: join(folder, 'daemon'),
      activityInterval: 500,
      retry: { first: 50, max: 500, total: 10_000 },
    },
  )
  await daemon.ready
  return { daemon, node: { id, token: `${tokenId}.${token}`, allocation: allocations[0] ?? 0 } }
}

/** Creates a server of this account and waits until its daemon has installed it. */
async function installServer(asAdmin: Wire, allocation: number, owner: number): Promise<Fixtures['server']> {
  const input = await demoServer(administrated(asAdmin), owner, allocation)
  const json = { ...input, feature_limits: { databases: 1, backups: 2 } }
  const created = expectStatus(await asAdmin('POST', '/servers', { json }), 201)
  expect(created.attributes.status).toBe('installing')
  const { id, uuid, identifier } = created.attributes
  await eventually(async () => (await asAdmin('GET', `/servers/${id}`)).body.attributes.status === null, 30)
  return { id, uuid, identifier }
}

const administrated = (asAdmin: Wire): Administrated => ({
  asAdmin: (method, path, json) => asAdmin(method, path, { json }),
})
