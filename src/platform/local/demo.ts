import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import {
  demoServerInput,
  seedAdministrator,
  type SeededUser,
  seedEggs,
  seedNode,
  seedPlayer,
} from '../../../drizzle/seed.ts'
import { nodes, servers, users } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { findNodeConfiguration } from '../../domain/node-configuration.ts'
import { createServer } from '../../domain/servers/create.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type RunningDaemon, startDaemon } from './daemon/start.ts'

/** What tools and tests may rely on: who can sign in, and where things are. */
export type Bootstrap = {
  url: string
  admin: SeededUser
  user: SeededUser
  application_key: string
  node: { id: number; uuid: string; token_id: string; token: string; daemon_url: string }
  server: { id: number; uuid: string; identifier: string }
}

/** Milliseconds for which the demo's installation is waited for. */
const patience = 20_000

/**
 * The demo runs: a node with the development daemon and an installed server. The first start on an
 * empty database makes it and writes `bootstrap.json`; later ones start the daemon again and refresh
 * the addresses there. Null where other people are in the database already, or another process makes it.
 */
export async function openDemo(
  panel: Panel,
  directory: string,
  log: (line: string) => void,
): Promise<{ bootstrap: Bootstrap; daemon: RunningDaemon } | null> {
  const file = join(directory, 'bootstrap.json')
  const earlier = await readBootstrap(file)
  const node = earlier ? await findDemoNode(panel, earlier) : null
  const demo =
    earlier && node
      ? await resumeDemo(panel, directory, earlier, node, log)
      : await makeDemo(panel, directory, log)
  if (!demo) return null
  await writeFile(`${file}.new`, `${JSON.stringify(demo.bootstrap, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return demo
}

async function hasUsers(panel: Panel): Promise<boolean> {
  const found = await panel.db.select({ id: users.id }).from(users).limit(1)
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

async function makeDemo(panel: Panel, directory: string, log: (line: string) => void) {
  const first = await makeFirstUser(panel)
  if (!first) return null
  const { application_key: applicationKey, ...admin } = first
  await seedEggs(panel)
  const { user, seeded } = await seedPlayer(panel)
  const { node, tokenId, token } = await seedNode(panel, 1)
  const daemon = await startNodeDaemon(panel, directory, node, 0, log)
  const [placed] = await panel.db.select().from(nodes).where(eq(nodes.id, node.id))
  const { id } = await createServer(panel, await demoServerInput(panel, placed ?? node, user))
  const server = await untilInstalled(panel, id)
  const bootstrap: Bootstrap = {
    url: panel.config.url,
    admin,
    user: seeded,
    application_key: applicationKey,
    node: { id: node.id, uuid: node.uuid, token_id: tokenId, token, daemon_url: daemon.url },
    server: { id: server.id, uuid: server.uuid, identifier: server.uuidShort },
  }
  return { bootstrap, daemon }
}

/** An administrator; null where somebody is already. Of processes that start at once over one database one makes him. */
async function makeFirstUser(panel: Panel) {
  if (await hasUsers(panel)) return null
  return inTransaction(panel, async (panel) => {
    await panel.db.execute(sql`lock table ${users} in share row exclusive mode`)
    return (await hasUsers(panel)) ? null : seedAdministrator(panel)
  })
}

async function resumeDemo(
  panel: Panel,
  directory: string,
  earlier: Bootstrap,
  node: Node,
  log: (line: string) => void,
) {
  const { token } = await findNodeConfiguration(panel, node.id)
  const daemon = await startNodeDaemon(panel, directory, node, node.daemonListen, log)
  const bootstrap: Bootstrap = {
    ...earlier,
    url: panel.config.url,
    node: { ...earlier.node, token_id: node.daemonTokenId, token, daemon_url: daemon.url },
  }
  return { bootstrap, daemon }
}

/** Starts the daemon on its port, or on another one when that is taken, and tells the panel which. */
async function startNodeDaemon(
  panel: Panel,
  directory: string,
  node: { id: number },
  port: number,
  log: (line: string) => void,
): Promise<RunningDaemon> {
  const configuration = await findNodeConfiguration(panel, node.id)
  const options = {
    panelUrl: configuration.remote,
    allowedOrigins: configuration.allowed_origins ?? [],
    tokenId: configuration.token_id,
    token: configuration.token,
    uuid: configuration.uuid,
    dataDirectory: join(directory, 'daemon'),
    allowLocalPulls: true,
    log,
  }
  const daemon = await startDaemon({ ...options, port }).catch(() => startDaemon({ ...options, port: 0 }))
  await panel.db
    .update(nodes)
    .set({ daemonListen: daemon.port, fqdn: '127.0.0.1' })
    .where(eq(nodes.id, node.id))
  await daemon.ready
  return daemon
}

async function untilInstalled(panel: Panel, id: number): Promise<Server> {
  const deadline = Date.now() + patience
  for (;;) {
    const [server] = await panel.db.select().from(servers).where(eq(servers.id, id))
    if (!server) throw new Error('The demo server is gone.')
    if (server.status !== 'installing' || Date.now() > deadline) return server
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
