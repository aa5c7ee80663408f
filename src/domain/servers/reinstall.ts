import { and, eq, gt } from 'drizzle-orm'
import { jobs, nodes, servers } from '../../db/schema.ts'
import type { Job } from '../../db/tables/jobs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server, ServerStatus } from '../../db/tables/servers.ts'
import { conflict, serverStateConflict } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { deleteEntry, type EntryKey, recordEvent } from '../activity/record.ts'
import { cancelJob, enqueueJob, isJobWaiting, type JobPayloads } from '../jobs/enqueue.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import { cancelInstallWatch, enqueueInstallWatch, reinstallKey } from './installation.ts'
import { findServerNode, lockServer } from './lock.ts'

/** Seconds after which a job takes over the reinstallation of a dead request: longer than a call to a daemon. */
const reinstallDelaySeconds = 60
/** Seconds after a reinstallation was started in which its caller starts no other one: a second click. */
const repeatDelaySeconds = 30
/** Attempts of the job, over about an hour. */
const maxAttempts = 10

export type WhileInstalling = 'allowed' | 'debounced' | 'refused'

/**
 * Reinstalls a server; the installation goes on after the response, with the status `installing`. A server that
 * is stuck there may be reinstalled. Records `server:reinstall`. When the process dies on the way, a job calls
 * the daemon.
 *
 * Refuses with 404; with 409 while the server is suspended, being restored or transferred, another
 * reinstallation is starting, or the server is being installed and `whileInstalling` does not allow it: `debounced`
 * refuses 30 seconds after another reinstallation; with the daemon's status, 502 or 504
 * when it does not accept it: then the status is as before. Spec: postApplicationServersByServerReinstall.
 * Wings: POST /api/servers/{uuid}/reinstall
 */
export async function reinstallServer(
  panel: Panel,
  id: number,
  whileInstalling: WhileInstalling = 'allowed',
): Promise<void> {
  const { server, node, entry } = await inTransaction(panel, (tx) => startReinstall(tx, id, whileInstalling))
  try {
    await panel.daemon(node).reinstallServer(server.uuid)
  } catch (error) {
    await inTransaction(panel, async (tx) => {
      await endReinstall(tx, id, server.status)
      await deleteEntry(tx, entry)
    })
    throw toDaemonApiError(error)
  }
  await cancelJob(panel, reinstallKey(id))
}

/**
 * Runs `reinstall-server-on-node`: starts a reinstallation whose request died. After an hour of refusals the
 * status is `reinstall_failed`. Does nothing when the server is deleted or not being installed.
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
    if (job.attempts < maxAttempts) throw error
    await inTransaction(panel, (tx) => endReinstall(tx, serverId, 'reinstall_failed'))
    return
  }
  await cancelJob(panel, reinstallKey(serverId))
}

/** Sets the status `installing` and enqueues the jobs. Returns the row as it was before. */
async function startReinstall(
  tx: Tx,
  id: number,
  whileInstalling: WhileInstalling,
): Promise<{ server: Server; node: Node; entry: EntryKey }> {
  const server = await lockServer(tx, id)
  const { node, targetNodeId } = await findServerNode(tx, server)
  if (server.status === 'suspended') throw serverStateConflict('server_suspended', 'The server is suspended.')
  if (server.status === 'restoring_backup') {
    throw serverStateConflict('server_restoring', 'The server is being restored from a backup.')
  }
  // Before the repetition: this job can end between two statements, and then counts there.
  if (await isJobWaiting(tx, reinstallKey(id))) {
    throw serverStateConflict('server_reinstalling', 'The server is already being reinstalled.')
  }
  if (server.status === 'installing') await refuseRepetition(tx, id, whileInstalling)
  if (targetNodeId !== null)
    throw conflict('server_transferring', 'The server is being transferred to another node.')
  await tx.db.update(servers).set({ status: 'installing', updatedAt: tx.now() }).where(eq(servers.id, id))
  await enqueueJob(
    tx,
    'reinstall-server-on-node',
    { serverId: id },
    { key: reinstallKey(id), runAt: new Date(tx.now().getTime() + reinstallDelaySeconds * 1000) },
  )
  await enqueueInstallWatch(tx, id)
  return { server, node, entry: await recordEvent(tx, 'server:reinstall', { serverId: id }) }
}

/** Refuses with 409 to install a server again that is being installed, unless the caller may and did not do so lately. */
async function refuseRepetition(tx: Tx, id: number, whileInstalling: WhileInstalling): Promise<void> {
  if (whileInstalling === 'allowed') return
  const earliest = new Date(tx.now().getTime() - repeatDelaySeconds * 1000)
  const isRefused =
    whileInstalling === 'refused' ||
    (await tx.db.$count(jobs, and(eq(jobs.key, reinstallKey(id)), gt(jobs.finishedAt, earliest)))) > 0
  if (isRefused) throw serverStateConflict('server_being_installed', 'The server is being installed.')
}

/** Ends the attempt: cancels its job and sets the status, unless the installation has ended meanwhile. */
async function endReinstall(tx: Tx, id: number, status: ServerStatus): Promise<void> {
  await tx.db
    .update(servers)
    .set({ status, updatedAt: tx.now() })
    .where(and(eq(servers.id, id), eq(servers.status, 'installing')))
  await cancelJob(tx, reinstallKey(id))
  // A server that was being installed before still is, and keeps its watch.
  if (status !== 'installing') await cancelInstallWatch(tx, id)
}
