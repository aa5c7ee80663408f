import { sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { activity, activitySubjects, backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { AccessNode } from '../servers/access.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { activityRow } from '../activity/record.ts'
import { createSignedUrl, signUserToken } from '../nodes/signed-urls.ts'
import {
  archiveKey,
  type BackupDisk,
  callObjectStore,
  requireKnownDisk,
  requireStoredArchive,
} from './archives.ts'

/** Seconds for which a URL of the object store is valid. */
const storedLinkSeconds = 300

type Target = { server: Pick<Server, 'id' | 'uuid'>; node: AccessNode }

/**
 * Creates a URL at which a browser downloads the archive: from the node, once and within 15 minutes, or from the
 * object store within five. Records `server:backup.download`. Refuses with 404; with 400 a backup that is not
 * successful, is on an unknown disk, or whose archive the object store has lost; with 503 while the store fails.
 * Spec: docs/backups.md#downloading. Wings: GET /download/backup.
 */
export async function createBackupDownloadUrl(panel: Panel, target: Target, uuid: string): Promise<string> {
  const disk = await recordDownload(panel, target.server, uuid, 'wings')
  if (disk === 's3') {
    const key = archiveKey({ server: target.server, backup: { uuid } })
    await requireStoredArchive(panel, key)
    await recordDownload(panel, target.server, uuid, 's3')
    return callObjectStore(() => panel.objects.signedUrl(key, storedLinkSeconds))
  }
  const token = await signBackupDownloadToken(panel, target, { uuid })
  return createSignedUrl(target, '/download/backup', token)
}

/** Signs a token with which the archive is downloaded from the node. Refuses with 401 callers that are not users. */
export const signBackupDownloadToken = (
  panel: Panel,
  target: Target,
  backup: Pick<Backup, 'uuid'>,
): Promise<string> => signUserToken(panel, target, 'backup-download', { backup_uuid: backup.uuid })

/** Returns the disk of the backup. Records the download in the same statement when the disk is `disk`. */
function recordDownload(
  panel: Panel,
  server: Target['server'],
  uuid: string,
  disk: BackupDisk,
): Promise<BackupDisk> {
  return inTransaction(panel, async (tx) => {
    const entry = activityRow(tx, 'server:backup.download', { serverId: server.id })
    const result = await tx.db.execute(sql`
      with found as (
        select id, name, disk, is_successful from ${backups}
        where server_id = ${server.id} and uuid = ${uuid}::uuid and deleting_at is null
      ), entry as (
        insert into ${activity} (timestamp, event, ip, source, actor_id, api_key_id, server_id, properties)
        select ${tx.now().toISOString()}::timestamptz, ${entry.event}::text, ${entry.ip}::text,
          ${entry.source}::text, ${entry.actorId}::integer, ${entry.apiKeyId}::integer, ${server.id}::integer,
          jsonb_build_object('name', name)
        from found where disk = ${disk} returning id
      ), subjects as (
        insert into ${activitySubjects} (activity_id, subject_type, subject_id)
        select entry.id, 'backup', found.id from entry cross join found
      )
      select disk, is_successful from found`)
    const [found] = rowsOf<{ disk: string; is_successful: boolean }>(result)
    // Thrown inside the transaction, so that the entry is rolled back.
    if (!found) throw notFound()
    if (!found.is_successful)
      throw badRequest('backup_not_successful', 'The backup was not completed successfully.')
    return requireKnownDisk(found)
  })
}
