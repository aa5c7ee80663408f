import type { Backup } from '../../db/tables/backups.ts'
import type { AccessNode } from '../servers/access.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest, unavailable } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import { enqueueJob } from '../jobs/enqueue.ts'

/** Where an archive is stored: `wings` is the node of its server, `s3` the object store. */
export type BackupDisk = 'wings' | 's3'

/** Seconds for which the removal of an archive is retried while its node does not answer. */
export const removalLifetimeSeconds = 30 * 86_400

/** Returns the disk of a backup. Refuses with 400 an unknown one. Spec: docs/api.md#errors. */
export function requireKnownDisk({ disk }: Pick<Backup, 'disk'>): BackupDisk {
  if (disk !== 'wings' && disk !== 's3')
    throw badRequest('backup_disk_unknown', `The disk ${disk} of this backup is unknown.`, {
      values: { disk },
    })
  return disk
}

/** The content type of archives: daemons restore no other one. */
export const archiveContentType = 'application/x-gzip'

/** The key of the archive of a backup in the object store. */
export const archiveKey = ({ server, backup }: { server: { uuid: string }; backup: { uuid: string } }) =>
  `${server.uuid}/${backup.uuid}.tar.gz`

/** Whether `archiveKey` creates such a key: the bucket may contain other objects. */
export const isArchiveKey = (key: string) => /^[\da-f-]{36}\/[\da-f-]{36}\.tar\.gz$/.test(key)

/** Errors of the object store; `schedules/reasons.ts` finds stored reasons by their text. */
export const storeUnavailableMessage = 'The object store cannot do this right now.'
export const storeMissingMessage = 'This panel has no object store that takes archives.'

/** Calls the object store. Refuses with 503 when it fails. */
export async function callObjectStore<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    throw unavailable('object_store_unavailable', storeUnavailableMessage, { cause: error })
  }
}

/** Refuses with 400 when the object store has lost the archive, with 503 when the store fails. */
export async function requireStoredArchive(panel: Panel, key: string): Promise<void> {
  const head = panel.objects.multipart?.head
  if (head && !(await callObjectStore(() => head(key)))) {
    throw badRequest('backup_archive_missing', 'The archive of this backup is no longer in the object store.')
  }
}

/** The fields of a backup that locate its archive. */
type ArchiveLocation = {
  server: Pick<Server, 'uuid'>
  node: AccessNode
  backup: Pick<Backup, 'uuid' | 'disk' | 'uploadId'>
}

/**
 * Deletes the archive and an open upload for it; missing ones are fine, and an unknown disk has none. Throws the
 * failure of the daemon; refuses with 503 when the object store fails. Wings: DELETE …/backup/{backup}.
 */
export async function deleteArchive(panel: Panel, { server, node, backup }: ArchiveLocation): Promise<void> {
  if (backup.disk === 'wings') {
    await panel.daemon(node).deleteBackup(server.uuid, backup.uuid)
  } else if (backup.disk === 's3') {
    const key = archiveKey({ server, backup })
    await callObjectStore(async () => {
      if (backup.uploadId) await panel.objects.multipart?.abort(key, backup.uploadId)
      await panel.objects.remove(key)
    })
  }
}

/** Enqueues the job that deletes what the object store has of a backup, unless it is successful by then. */
export const enqueueStoredArchiveDiscard = (
  tx: Tx,
  { server, backup }: Pick<ArchiveLocation, 'server' | 'backup'>,
): Promise<void> =>
  enqueueJob(
    tx,
    'discard-backup-upload',
    { serverUuid: server.uuid, backupUuid: backup.uuid, uploadId: backup.uploadId },
    { lifetimeSeconds: removalLifetimeSeconds },
  )
