import { eq, sql } from 'drizzle-orm'
import { type Database, prepared } from '../../db/database.ts'
import { backups, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { forbidden, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

/** A backup with the server that it belongs to. */
export type ServerBackup = { backup: Backup; server: Pick<Server, 'id' | 'uuid' | 'nodeId'> }

/**
 * Finds a backup of a server of the node, in one statement. Refuses with 404, and with 403 a backup of another
 * node (RM-2).
 */
export async function findNodeBackup(panel: Panel, node: Node, uuid: string): Promise<ServerBackup> {
  const [found] = await prepareNodeBackupQuery(panel.db).execute({ uuid })
  if (!found) throw backupNotFound()
  if (found.server.nodeId !== node.id)
    throw forbidden('callback_refused', 'The backup belongs to another node.', {
      code: 'HttpForbiddenException',
    })
  return found
}

/** Finds a backup as `findNodeBackup` does. Refuses with 404 also while it is being removed. */
export async function findActiveNodeBackup(panel: Panel, node: Node, uuid: string): Promise<ServerBackup> {
  const found = await findNodeBackup(panel, node, uuid)
  if (found.backup.deletingAt) throw backupNotFound()
  return found
}

/** Creates the 404 for a backup. */
export const backupNotFound = () =>
  notFound('callback_refused', 'No such backup.', { code: 'RecordNotFoundException' })

const prepareNodeBackupQuery = (db: Database) =>
  prepared(db, 'node_backup', (connection) =>
    connection
      .select({
        backup: backups,
        server: { id: servers.id, uuid: servers.uuid, nodeId: servers.nodeId },
      })
      .from(backups)
      .innerJoin(servers, eq(servers.id, backups.serverId))
      .where(eq(backups.uuid, sql.placeholder('uuid')))
      .prepare('node_backup'),
  )
