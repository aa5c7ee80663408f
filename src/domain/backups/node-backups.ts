import { eq, sql } from 'drizzle-orm'
import { type Database, prepared } from '../../db/database.ts'
import { backups, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { forbidden, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

/** A backup with the server whose files are in it. */
export type ServerBackup = { backup: Backup; server: Pick<Server, 'id' | 'uuid' | 'nodeId'> }

/**
 * A backup of a server that stands on the node, in one statement. Refuses with 404 an unknown one, with 403
 * one of a server on another node.
 */
export async function findNodeBackup(panel: Panel, node: Node, uuid: string): Promise<ServerBackup> {
  const [found] = await backupStatement(panel.db).execute({ uuid })
  if (!found) throw unknownBackup()
  if (found.server.nodeId !== node.id)
    throw forbidden('The backup belongs to another node.', 'HttpForbiddenException')
  return found
}

/** As `findNodeBackup`; a backup that is being removed is not there any more. */
export async function findKeptBackup(panel: Panel, node: Node, uuid: string): Promise<ServerBackup> {
  const found = await findNodeBackup(panel, node, uuid)
  if (found.backup.deletingAt) throw unknownBackup()
  return found
}

/** 404 for a backup. */
export const unknownBackup = () => notFound('No such backup.', 'RecordNotFoundException')

const backupStatement = (db: Database) =>
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
