import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eq, inArray, sql } from 'drizzle-orm'
import {
  demoServerInput,
  seedAdministrator,
  seededEmails,
  type SeededUser,
  seedEggs,
  seedNode,
  seedPlayer,
} from '../../../drizzle/seed.ts'
import { locations, nodes, servers, users } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { ForkedDaemon } from '../../dev/daemon/fork.ts'
import { findNodeConfiguration } from '../../domain/nodes/configuration.ts'
import { createServer } from '../../domain/servers/create.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { type DemoOptions, startNodeDaemon } from './demo-daemon.ts'

/** The content of `bootstrap.json`, for tools and tests: accounts with their credentials, the node and the server. */
export type Bootstrap = {
  url: string
  admin: SeededUser
  user: SeededUser
  application_key: string
  node: { id: number; uuid: string; token_id: string; token: string; daemon_url: string }
  server: { id: number; uuid: string; identifier: string }
  /** True where the set-up page made the demo, which then goes on without `DEMO`. */
  is_chosen?: boolean
}

type FirstUser = SeededUser & { application_key: string }

/** What a demo has so far. */
type MadeParts = { node: Node | null; daemon: ForkedDaemon | null }

/** Milliseconds to wait for the installation of the demo server. */
const installTimeoutMs = 20_000

/**
 * Starts the demo: a node with the development daemon, and an installed server. The first start on an empty database
 * creates it and writes `bootstrap.json`, or leaves nothing of it when it fails; later starts run the daemon again and update the URLs in the file. Null where
 * the database has other users, or another process creates the demo.
 */
export async function openDemo(panel: Panel, options: DemoOptions): Promise<Bootstrap | null> {
  const file = bootstrapFile(options)
  const previousBootstrap = await readBootstrap(file)
  const node = previousBootstrap ? await findDemoNode(panel, previousBootstrap) : null
  const bootstrap =
    previousBootstrap && node
      ? await resumeDemo(panel, options, previousBootstrap, node)
      : await createDemo(panel, options)
  return bootstrap && storeBootstrap(file, bootstrap)
}

/** Creates a demo that the set-up page was asked for; null as `openDemo`. */
export async function createChosenDemo(panel: Panel, options: DemoOptions): Promise<Bootstrap | null> {
  const created = await createDemo(panel, options)
  return created && storeBootstrap(bootstrapFile(options), { ...created, is_chosen: true })
}

/** Runs the daemon of a demo that the set-up page was asked for; null where there is none. */
export async function resumeChosenDemo(panel: Panel, options: DemoOptions): Promise<Bootstrap | null> {
  const previousBootstrap = await readBootstrap(bootstrapFile(options))
  return previousBootstrap?.is_chosen ? openDemo(panel, options) : null
}

const bootstrapFile = ({ directory }: DemoOptions) => join(directory, 'bootstrap.json')

async function storeBootstrap(file: string, bootstrap: Bootstrap): Promise<Bootstrap> {
  await writeFile(`${file}.new`, `${JSON.stringify(bootstrap, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return bootstrap
}

async function hasUsers(tx: Tx): Promise<boolean> {
  const found = await tx.db.select({ id: users.id }).from(users).limit(1)
  return found.length > 0
}

async function findDemoNode(panel: Panel, { node }: Bootstrap): Promise<Node | null> {
  const [found] = await panel.db.select().from(nodes).where(eq(nodes.uuid, node.uuid))
  return found ?? null
}

async function readBootstrap(file: string): Promise<Bootstrap | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Bootstrap
  } catch {
    return null
  }
}

async function createDemo(panel: Panel, options: DemoOptions): Promise<Bootstrap | null> {
  const first = await createFirstUser(panel)
  if (!first) return null
  const made: MadeParts = { node: null, daemon: null }
  const onDaemon = (daemon: ForkedDaemon) => {
    made.daemon = daemon
    options.onDaemon(daemon)
  }
  try {
    return await fillDemo(panel, { ...options, onDaemon }, first, made)
  } catch (error) {
    await undoDemo(panel, made)
    throw error
  }
}

/** Removes a demo that was not finished, so that no account with an unknown password stays; eggs are kept. */
async function undoDemo(panel: Panel, { node, daemon }: MadeParts): Promise<void> {
  await daemon?.close().catch(() => null)
  await inTransaction(panel, async (tx) => {
    if (node) {
      await tx.db.delete(servers).where(eq(servers.nodeId, node.id))
      await tx.db.delete(nodes).where(eq(nodes.id, node.id))
      await tx.db.delete(locations).where(eq(locations.id, node.locationId))
    }
    await tx.db.delete(users).where(inArray(users.email, seededEmails))
  })
}

async function fillDemo(
  panel: Panel,
  options: DemoOptions,
  first: FirstUser,
  made: MadeParts,
): Promise<Bootstrap> {
  const { application_key: applicationKey, ...admin } = first
  await seedEggs(panel)
  const { user, seeded } = await seedPlayer(panel)
  const { node, tokenId, token } = await seedNode(panel, 1)
  made.node = node
  const daemon = await startNodeDaemon(panel, node, { ...options, port: 0 })
  const [updatedNode] = await panel.db.select().from(nodes).where(eq(nodes.id, node.id))
  const { id } = await createServer(panel, await demoServerInput(panel, updatedNode ?? node, user))
  const server = await waitUntilInstalled(panel, id)
  return {
    url: panel.config.url,
    admin,
    user: seeded,
    application_key: applicationKey,
    node: { id: node.id, uuid: node.uuid, token_id: tokenId, token, daemon_url: daemon.url },
    server: { id: server.id, uuid: server.uuid, identifier: server.uuidShort },
  }
}

/** Creates an administrator; null where a user exists. The lock lets one of several starting processes do it. */
async function createFirstUser(panel: Panel): Promise<FirstUser | null> {
  if (await hasUsers(panel)) return null
  return inTransaction(panel, async (tx) => {
    await tx.db.execute(sql`lock table ${users} in share row exclusive mode`)
    return (await hasUsers(tx)) ? null : seedAdministrator(tx)
  })
}

async function resumeDemo(
  panel: Panel,
  options: DemoOptions,
  previousBootstrap: Bootstrap,
  node: Node,
): Promise<Bootstrap> {
  const { token } = await findNodeConfiguration(panel, node.id)
  const daemon = await startNodeDaemon(panel, node, { ...options, port: node.daemonListen })
  return {
    ...previousBootstrap,
    url: panel.config.url,
    node: { ...previousBootstrap.node, token_id: node.daemonTokenId, token, daemon_url: daemon.url },
  }
}

async function waitUntilInstalled(panel: Panel, id: number): Promise<Server> {
  const deadline = Date.now() + installTimeoutMs
  for (;;) {
    const [server] = await panel.db.select().from(servers).where(eq(servers.id, id))
    if (!server) throw new Error('The demo server was deleted.')
    if (server.status !== 'installing' || Date.now() > deadline) return server
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
