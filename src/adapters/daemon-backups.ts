import { DaemonError } from './daemon-error.ts'
import { type DaemonTarget, send, ignoreStatuses } from './daemon-http.ts'

/** `ignored` are patterns of files to leave out; without any the daemon uses `.pteroignore`. */
export type CreateBackupRequest = { uuid: string; adapter: 'wings' | 's3'; ignored: string[] }

/** `downloadUrl` is the link to an archive that is not on the node. */
export type RestoreBackupRequest = {
  uuid: string
  adapter: 'wings' | 's3'
  /** Whether all files of the server are deleted first. */
  truncate: boolean
  downloadUrl: string | null
}

/** Calls for backups of servers. */
export type DaemonBackups = {
  /** Starts a backup in the background. Wings: POST …/backup */
  createBackup: (uuid: string, request: CreateBackupRequest) => Promise<void>
  /** Deletes the files of a server, if requested, and starts a restoration in the background. Wings: POST …/backup/{backup}/restore */
  restoreBackup: (uuid: string, request: RestoreBackupRequest) => Promise<void>
  /** Deletes an archive from the node; a missing one is fine. Wings: DELETE …/backup/{backup} */
  deleteBackup: (uuid: string, backupUuid: string) => Promise<void>
  /** Whether the node has no such archive; `token` is one for its download. Wings: GET /download/backup */
  isBackupMissing: (token: string) => Promise<boolean>
}

/** Creates the calls for backups of one daemon. */
export function httpDaemonBackups(target: DaemonTarget): DaemonBackups {
  const backupPath = (uuid: string) => `/api/servers/${uuid}/backup`
  return {
    createBackup: (uuid, { uuid: backupUuid, adapter, ignored }) =>
      send(target, 'POST', backupPath(uuid), {
        json: { adapter, uuid: backupUuid, ignore: ignored.join('\n') },
      }),
    restoreBackup: (uuid, { uuid: backupUuid, adapter, truncate, downloadUrl }) =>
      send(target, 'POST', `${backupPath(uuid)}/${backupUuid}/restore`, {
        json: {
          adapter,
          truncate_directory: truncate,
          ...(downloadUrl === null ? {} : { download_url: downloadUrl }),
        },
        // The daemon answers once the files are deleted.
        timeoutMs: 2 * target.timeoutMs,
      }),
    deleteBackup: (uuid, backupUuid) =>
      send(target, 'DELETE', `${backupPath(uuid)}/${backupUuid}`).catch(ignoreStatuses(404)),
    isBackupMissing: (token) => isBackupMissing(target, token),
  }
}

/** A 404 may be about something other than the backup, so its message counts. */
async function isBackupMissing(target: DaemonTarget, token: string): Promise<boolean> {
  try {
    await send(target, 'GET', `/download/backup?token=${encodeURIComponent(token)}`)
    return false
  } catch (error) {
    if (!(error instanceof DaemonError) || error.status === null) throw error
    return error.status === 404 && /\bbackup\b/i.test(error.message)
  }
}
