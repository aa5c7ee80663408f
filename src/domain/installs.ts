import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { servers } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { ServerStatus } from '../db/tables/servers.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { boolean } from './fields.ts'
import { cancelJob } from './jobs.ts'
import { enqueueInstallNotice } from './mail/orders.ts'
import { lockNodeServer } from './node-servers.ts'
import { creationKey, endWatch, reinstallKey } from './servers/install-watch.ts'

/** How an installation ended, as its daemon says. Wings: POST /servers/{uuid}/install. */
export const InstallReport = () => z.object({ successful: boolean(), reinstall: boolean().nullish() })
type InstallReport = z.output<ReturnType<typeof InstallReport>>

/**
 * The server is normal after a success, else `install_failed` or `reinstall_failed`; a suspended one stays
 * suspended. `installed_at` is set in every case and a job that would still have the node create or reinstall
 * the server is over. A mail tells the owner of a success. The same report again changes nothing but
 * `installed_at`. Refuses with 404 an unknown
 * server, with 403 one of another node. Spec: States and transitions, install.
 */
export async function finishInstall(
  panel: Panel,
  node: Node,
  name: string,
  report: InstallReport,
): Promise<void> {
  const now = panel.now()
  await inTransaction(panel, async (inside) => {
    const { id, status, installedAt } = await lockNodeServer(inside, node, name)
    await inside.db
      .update(servers)
      .set({ status: statusAfter(status, report), installedAt: now, updatedAt: now })
      .where(eq(servers.id, id))
    await cancelJob(inside, creationKey(id))
    await cancelJob(inside, reinstallKey(id))
    await endWatch(inside, id)
    // A report that comes again is about nothing new.
    if (report.successful && (status === 'installing' || installedAt === null)) {
      await enqueueInstallNotice(inside, id, !(report.reinstall ?? installedAt !== null))
    }
  })
}

function statusAfter(status: ServerStatus, report: InstallReport): ServerStatus {
  if (status === 'suspended') return 'suspended'
  if (report.successful) return null
  return report.reinstall ? 'reinstall_failed' : 'install_failed'
}
