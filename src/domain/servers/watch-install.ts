import { and, eq, sql } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon.ts'
import { jobs, nodes, servers } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { isWaiting, type JobPayloads } from '../jobs.ts'
import { creationKey, endWatch, reinstallKey, watchKey, watchOn } from './install-watch.ts'

/** Milliseconds after which an installation that nobody reported of has failed. */
const longestInstall = 6 * 3_600_000

/**
 * The job: an installation of which nothing was heard for half an hour has failed when its daemon does not know
 * the server, or has not said how it ended after six hours; else it is looked at again. One that is over, or
 * another one than the job was written for, is left alone. Wings: GET /api/servers/{uuid}
 */
export async function watchInstallOnNode(panel: Panel, payload: JobPayloads['watch-install']): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, payload.serverId))
  if (found?.server.status !== 'installing') return
  const isOver = panel.now().getTime() - Date.parse(payload.since) >= longestInstall
  const hasFailed =
    isOver || (await isForgotten(() => panel.daemon(found.node).showServer(found.server.uuid)))
  await inTransaction(panel, async (inside) => {
    const server = await lockWatched(inside, payload)
    if (!server) return
    const isStarting = await isBeingStarted(inside, server.id)
    if (isOver || (hasFailed && !isStarting)) return failInstall(inside, server)
    await watchOn(inside, payload)
  })
}

/** Only a daemon that says so has forgotten it: one that does not answer may be installing. */
async function isForgotten(show: () => Promise<unknown>): Promise<boolean> {
  try {
    await show()
    return false
  } catch (error) {
    if (error instanceof DaemonError) return error.status === 404
    throw error
  }
}

/** The server, locked, while this installation goes on; undefined once another one began or it ended. */
async function lockWatched(
  panel: Panel,
  { serverId, since }: JobPayloads['watch-install'],
): Promise<Server | undefined> {
  const [server] = await panel.db
    .select()
    .from(servers)
    .where(and(eq(servers.id, serverId), eq(servers.status, 'installing')))
    .for('update')
  const [watch] = await panel.db
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        eq(jobs.key, watchKey(serverId)),
        eq(jobs.state, 'waiting'),
        eq(sql`${jobs.payload} ->> 'since'`, since),
      ),
    )
  return watch && server
}

/** Whether a job still has to tell the daemon about it. */
const isBeingStarted = async (panel: Panel, serverId: number) =>
  (await isWaiting(panel, creationKey(serverId))) || (await isWaiting(panel, reinstallKey(serverId)))

async function failInstall(panel: Panel, { id, installedAt }: Server): Promise<void> {
  const status = installedAt === null ? 'install_failed' : 'reinstall_failed'
  await panel.db.update(servers).set({ status, updatedAt: panel.now() }).where(eq(servers.id, id))
  await endWatch(panel, id)
}
