import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest, unavailable } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { enqueue } from '../jobs.ts'

/** Where an archive is: `wings` on the node of its server, `s3` in the object store. */
export type Disk = 'wings' | 's3'

/** Seconds for which a node that is away is asked to remove an archive: it may be down for long. */
export const removalLifetime = 30 * 86_400

/** The disk of a backup. Refuses with 400 one that nobody knows. Spec: Errors. */
export function diskOf({ disk }: Pick<Backup, 'disk'>): Disk {
  if (disk !== 'wings' && disk !== 's3') throw badRequest(`Nobody knows the disk ${disk} of this backup.`)
  return disk
}

/** Key of the archive of a backup in the object store. */
export const archiveKey = ({ server, backup }: { server: { uuid: string }; backup: { uuid: string } }) =>
  `${server.uuid}/${backup.uuid}.tar.gz`

/** Whether `key` is one that `archiveKey` makes: a bucket may hold other things as well. */
export const isArchiveKey = (key: string) => /^[\da-f-]{36}\/[\da-f-]{36}\.tar\.gz$/.test(key)

/** Why an archive has no place in the object store. */
export const storeAway = 'The object store cannot do this right now.'
export const storeMissing = 'This panel has no object store that takes archives.'

/** Asks the object store. What goes wrong there is told with 503: it may go better another time. */
export async function throughStore<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw unavailable(storeAway, error)
  }
}

/** Refuses with 400 an archive that the object store has lost, with 503 while the store is away. */
export async function refuseLostObject(panel: Panel, key: string): Promise<void> {
  const head = panel.objects.multipart?.head
  if (head && !(await throughStore(() => head(key)))) {
    throw badRequest('The archive of this backup is not in the object store any more.')
  }
}

/** Enough of a backup to find its archive. */
type Archive = {
  server: Pick<Server, 'uuid'>
  node: Node
  backup: Pick<Backup, 'uuid' | 'disk' | 'uploadId'>
}

/**
 * Nothing is left of the archive, nor of an upload that was open for it; nothing having been there is fine. An
 * unknown disk has nothing. Throws what the daemon fails with; refuses with 503 when the store fails.
 * Wings: DELETE …/backup/{backup}
 */
export async function eraseArchive(panel: Panel, { server, node, backup }: Archive): Promise<void> {
  if (backup.disk === 'wings') {
    await panel.daemon(node).deleteBackup(server.uuid, backup.uuid)
  } else if (backup.disk === 's3') {
    const key = archiveKey({ server, backup })
    await throughStore(async () => {
      if (backup.uploadId) await panel.objects.multipart?.abort(key, backup.uploadId)
      await panel.objects.remove(key)
    })
  }
}

/** A job removes what the store holds of a backup, unless it is a good one by then. */
export const discardFromStore = (
  panel: Panel,
  { server, backup }: Pick<Archive, 'server' | 'backup'>,
): Promise<void> =>
  enqueue(
    panel,
    'discard-backup-upload',
    { serverUuid: server.uuid, backupUuid: backup.uuid, uploadId: backup.uploadId },
    { lifetimeSeconds: removalLifetime },
  )
