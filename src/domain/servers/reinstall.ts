import { and, eq } from 'drizzle-orm'
import { nodes, servers } from '../../db/schema.ts'
import type { Job } from '../../db/tables/jobs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server, ServerStatus } from '../../db/tables/servers.ts'
import { conflict, serverStateConflict } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { cancelJob, enqueue, isWaiting, type JobPayloads } from '../jobs.ts'
import { endWatch, reinstallKey, watchInstall } from './install-watch.ts'
import { lockServer, placeOf } from './lock.ts'

/**
 * Seconds after which a reinstallation that nobody asked the daemon for is taken up by its job: longer than
 * a call.
 */
const reinstallGrace = 60
/** How often the job asks, over about an hour. */
const mostAttempts = 10

/**
 * The daemon installs the server again, which goes on by itself; the status is `installing`. One that is
 * stuck there may be installed again. Records `server:reinstall`. When the process dies on the way, a job
 * asks the daemon.
 *
 * Refuses with 404, with 409 while the server is suspended, being restored or moved, another reinstallation is
 * just starting, or the status is one of `except`; with the daemon's status, 502 or 504 when it does not take
 * it: then the status is as before.
 * Spec: Application API, servers/{server}/reinstall; Client API, settings.
 * Wings: POST /api/servers/{uuid}/reinstall
 */
export async function reinstallServer(
  panel: Panel,
  id: number,
  except: readonly ServerStatus[] = [],
): Promise<void> {
  const { server, node } = await inTransaction(panel, (inside) => startReinstall(inside, id, except))
  try {
    await panel.daemon(node).reinstallServer(server.uuid)
  } catch (error) {
    await inTransaction(panel, (inside) => endReinstall(inside, id, server.status))
    refuseDaemonFailure(error)
  }
  await acceptReinstall(panel, id)
}

/**
 * The daemon has been asked for a reinstallation whose request died. After an hour without its consent the
 * status is `reinstall_failed`. A server that is gone or not being installed needs nothing.
 * Wings: POST /api/servers/{uuid}/reinstall
 */
export async function reinstallServerOnNode(
  panel: Panel,
  { serverId }: JobPayloads['reinstall-server-on-node'],
  job: Pick<Job, 'attempts'>,
): Promise<void> {
  const [found] = await panel.db
    .select({ uuid: servers.uuid, status: servers.status, node: nodes })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, serverId))
  if (found?.status !== 'installing') return
  try {
    await panel.daemon(found.node).reinstallServer(found.uuid)
  } catch (error) {
    if (job.attempts < mostAttempts) throw error
    await inTransaction(panel, (inside) => endReinstall(inside, serverId, 'reinstall_failed'))
    return
  }
  await acceptReinstall(panel, serverId)
}

/** The row as it was before. */
async function startReinstall(
  panel: Panel,
  id: number,
  except: readonly ServerStatus[],
): Promise<{ server: Server; node: Node }> {
  const server = await lockServer(panel, id)
  const { node, movingTo } = await placeOf(panel, server)
  if (server.status === 'suspended') throw serverStateConflict('The server is suspended.')
  if (server.status === 'restoring_backup') {
    throw serverStateConflict('The server is being restored from a backup.')
  }
  if (except.includes(server.status)) throw serverStateConflict('The server is being installed.')
  if (movingTo !== null) throw conflict('The server is being moved to another node.')
  if (await isWaiting(panel, reinstallKey(id))) {
    throw serverStateConflict('The server is being installed again already.')
  }
  await panel.db
    .update(servers)
    .set({ status: 'installing', updatedAt: panel.now() })
    .where(eq(servers.id, id))
  await enqueue(
    panel,
    'reinstall-server-on-node',
    { serverId: id },
    { key: reinstallKey(id), runAt: new Date(panel.now().getTime() + reinstallGrace * 1000) },
  )
  await watchInstall(panel, id)
  return { server, node }
}

/** Nobody asks the daemon any more; what has ended meanwhile keeps its status. */
async function endReinstall(panel: Panel, id: number, status: ServerStatus): Promise<void> {
  await panel.db
    .update(servers)
    .set({ status, updatedAt: panel.now() })
    .where(and(eq(servers.id, id), eq(servers.status, 'installing')))
  await cancelJob(panel, reinstallKey(id))
  // One that was being installed before still is, and nobody else watches it.
  if (status !== 'installing') await endWatch(panel, id)
}

const acceptReinstall = (panel: Panel, serverId: number) =>
  inTransaction(panel, async (inside) => {
    await record(inside, 'server:reinstall', { serverId })
    await cancelJob(inside, reinstallKey(serverId))
  })
