import { and, eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { DaemonError } from '../../adapters/daemon-error.ts'
import type { Daemon } from '../../adapters/daemon.ts'
import { jobs, nodes, servers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server, ServerStatus } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean } from '../fields.ts'
import { cancelJob, isJobWaiting, type JobPayloads, replaceJob } from '../jobs/enqueue.ts'
import { enqueueInstallFailureNotice, enqueueInstallNotice } from '../mail/enqueue.ts'
import { lockNodeServer } from '../nodes/servers.ts'
import { notifyUsers } from '../notifications/notify.ts'
import { isKnownToDaemon } from './node-jobs.ts'

/** Reasons of `server:installation.abandon`. */
const reasons = {
  noReport: 'The node has not reported the end of the installation.',
  unknownToNode: 'The node does not know the server.',
} as const

/** Milliseconds after which an installation without a report has failed. */
const maxInstallMs = 6 * 3_600_000

/**
 * Runs `watch-install`: fails an installation without a report when its daemon does not know the server, or
 * after six hours; else checks again later. Does nothing when the installation has ended or a newer one has
 * begun. Wings: GET /api/servers/{uuid}
 */
export async function checkInstallation(panel: Panel, payload: JobPayloads['watch-install']): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, payload.serverId))
  if (found?.server.status !== 'installing') return
  const hasTimedOut = panel.now().getTime() - Date.parse(payload.since) >= maxInstallMs
  const hasFailed = hasTimedOut || (await isForgottenByDaemon(panel.daemon(found.node), found.server.uuid))
  await inTransaction(panel, async (tx) => {
    const server = await lockWatchedServer(tx, payload)
    if (!server) return
    const isStarting = await isBeingStarted(tx, server.id)
    if (hasTimedOut || (hasFailed && !isStarting))
      return failInstallation(tx, server, reasons[hasTimedOut ? 'noReport' : 'unknownToNode'])
    await continueInstallWatch(tx, payload)
  })
}

/** Whether the daemon answers that it does not know the server; one that does not answer may be installing it. */
async function isForgottenByDaemon(daemon: Daemon, uuid: string): Promise<boolean> {
  try {
    return !(await isKnownToDaemon(daemon, uuid))
  } catch (error) {
    if (error instanceof DaemonError) return false
    throw error
  }
}

/** Locks the server while this installation goes on; undefined once it has ended or another one has begun. */
async function lockWatchedServer(
  tx: Tx,
  { serverId, since }: JobPayloads['watch-install'],
): Promise<Server | undefined> {
  const server = await lockInstallingServer(tx, serverId)
  const [watch] = await tx.db
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        eq(jobs.key, installWatchKey(serverId)),
        eq(jobs.state, 'waiting'),
        eq(sql`${jobs.payload} ->> 'since'`, since),
      ),
    )
  return watch && server
}

/** Locks a server that is being installed; undefined when it is not. */
export async function lockInstallingServer(tx: Tx, serverId: number): Promise<Server | undefined> {
  const [server] = await tx.db
    .select()
    .from(servers)
    .where(and(eq(servers.id, serverId), eq(servers.status, 'installing')))
    .for('update')
  return server
}

/** Whether a job still has to start the installation on the daemon. */
const isBeingStarted = async (tx: Tx, serverId: number) =>
  (await isJobWaiting(tx, creationKey(serverId))) || (await isJobWaiting(tx, reinstallKey(serverId)))

/**
 * Ends the installation of a locked server that its daemon will not report. Records `server:installation.abandon` with the
 * reason, mails the owner, and cancels the jobs that would start or watch it.
 */
export async function failInstallation(tx: Tx, { id, installedAt }: Server, reason: string): Promise<void> {
  const status = installedAt === null ? 'install_failed' : 'reinstall_failed'
  await tx.db.update(servers).set({ status, updatedAt: tx.now() }).where(eq(servers.id, id))
  await cancelJob(tx, creationKey(id))
  await cancelInstallWatch(tx, id)
  await recordEvent(tx, 'server:installation.abandon', { serverId: id, properties: { reason } })
  await notifyUsers(tx, 'install.failed', { serverId: id })
  await enqueueInstallFailureNotice(tx, id)
}

/** How an installation ended, as the daemon reports it. Wings: POST /servers/{uuid}/install. */
export const InstallReport = () => z.object({ successful: boolean(), reinstall: boolean().nullish() })
type InstallReport = z.output<ReturnType<typeof InstallReport>>

/**
 * Finishes an installation as its daemon reports. The status becomes normal after a success, else
 * `install_failed` or `reinstall_failed`; a suspended server stays suspended. Sets `installed_at`, cancels the
 * jobs that would start the installation, and mails the owner after a success. A repeated report changes
 * `installed_at` alone. Refuses with 404, with 403 a server of another node.
 * Spec: docs/servers.md#installation.
 */
export async function finishInstallation(
  panel: Panel,
  node: Node,
  identifier: string,
  report: InstallReport,
): Promise<void> {
  const now = panel.now()
  await inTransaction(panel, async (tx) => {
    const { id, status, installedAt } = await lockNodeServer(tx, node, identifier)
    await tx.db
      .update(servers)
      .set({ status: statusAfter(status, report), installedAt: now, updatedAt: now })
      .where(eq(servers.id, id))
    await cancelJob(tx, creationKey(id))
    await cancelJob(tx, reinstallKey(id))
    await cancelInstallWatch(tx, id)
    // A repeated report neither notifies nor mails once more.
    const isFirstReport = status === 'installing' || installedAt === null
    if (!report.successful && status === 'installing')
      await notifyUsers(tx, 'install.failed', { serverId: id })
    if (report.successful && isFirstReport) {
      await notifyUsers(tx, 'install.completed', { serverId: id })
      await enqueueInstallNotice(tx, id, !(report.reinstall ?? installedAt !== null))
    }
  })
}

function statusAfter(status: ServerStatus, report: InstallReport): ServerStatus {
  if (status === 'suspended') return 'suspended'
  if (report.successful) return null
  return report.reinstall ? 'reinstall_failed' : 'install_failed'
}

/** Seconds between two checks of an installation. */
const watchIntervalSeconds = 30 * 60

/** Key of the job that watches the installation of a server. */
export const installWatchKey = (serverId: number) => `watch-install:${serverId}`

/** Key of the job that finishes the creation of a server. */
export const creationKey = (serverId: number) => `create-server:${serverId}`

/** Key of the job that finishes the start of a reinstallation. */
export const reinstallKey = (serverId: number) => `reinstall-server:${serverId}`

const nextWatchAt = (tx: Tx) => new Date(tx.now().getTime() + watchIntervalSeconds * 1000)

/**
 * Enqueues the job that watches the installation which begins now, in place of an earlier one; call it in the
 * transaction that sets the status.
 */
export async function enqueueInstallWatch(tx: Tx, serverId: number): Promise<void> {
  const since = tx.now().toISOString()
  const options = { key: installWatchKey(serverId), runAt: nextWatchAt(tx) }
  await replaceJob(tx, 'watch-install', { serverId, since }, options)
}

/** Enqueues the next check of the same installation. */
export const continueInstallWatch = (tx: Tx, payload: JobPayloads['watch-install']): Promise<void> =>
  replaceJob(tx, 'watch-install', payload, {
    key: installWatchKey(payload.serverId),
    runAt: nextWatchAt(tx),
  })

/** Cancels the watch of an installation that has ended. */
export const cancelInstallWatch = (tx: Tx, serverId: number): Promise<void> =>
  cancelJob(tx, installWatchKey(serverId))
