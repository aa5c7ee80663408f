import { DaemonError, type DaemonTarget, tell, unless } from './daemon-http.ts'

/** What a daemon packs: `ignored` are patterns of what it leaves out; without any it goes by `.pteroignore`. */
export type BackupOrder = { uuid: string; adapter: 'wings' | 's3'; ignored: string[] }

/** What a daemon unpacks: `downloadUrl` is where it finds an archive that is not its own. */
export type RestorationOrder = {
  uuid: string
  adapter: 'wings' | 's3'
  /** Whether everything is removed from the server before. */
  truncate: boolean
  downloadUrl: string | null
}

/** Archives of servers on their node. */
export type DaemonBackups = {
  /** Accepts to back a server up, which then happens by itself. Wings: POST …/backup */
  createBackup: (uuid: string, order: BackupOrder) => Promise<void>
  /**
   * Accepts to restore a server, which then happens by itself; removes its files first if that is asked for.
   * Wings: POST …/backup/{backup}/restore
   */
  restoreBackup: (uuid: string, order: RestorationOrder) => Promise<void>
  /** The daemon holds the archive no more; not holding it before is fine. Wings: DELETE …/backup/{backup} */
  deleteBackup: (uuid: string, backupUuid: string) => Promise<void>
  /** Whether the daemon says that it has no such archive; `token` is one for its download. Wings: GET /download/backup */
  lacksBackup: (token: string) => Promise<boolean>
}

export function httpDaemonBackups(target: DaemonTarget): DaemonBackups {
  const at = (uuid: string) => `/api/servers/${uuid}/backup`
  return {
    createBackup: (uuid, { uuid: backupUuid, adapter, ignored }) =>
      tell(target, 'POST', at(uuid), {
        json: { adapter, uuid: backupUuid, ignore: ignored.join('\n') },
      }),
    restoreBackup: (uuid, { uuid: backupUuid, adapter, truncate, downloadUrl }) =>
      tell(target, 'POST', `${at(uuid)}/${backupUuid}/restore`, {
        json: {
          adapter,
          truncate_directory: truncate,
          ...(downloadUrl === null ? {} : { download_url: downloadUrl }),
        },
        // It answers once the files are removed.
        patience: 2 * target.timeout,
      }),
    deleteBackup: (uuid, backupUuid) =>
      tell(target, 'DELETE', `${at(uuid)}/${backupUuid}`).catch(unless(404)),
    lacksBackup: (token) => lacksBackup(target, token),
  }
}

/** A daemon says 404 of other things as well, each in its own words. */
async function lacksBackup(target: DaemonTarget, token: string): Promise<boolean> {
  try {
    await tell(target, 'GET', `/download/backup?token=${encodeURIComponent(token)}`)
    return false
  } catch (error) {
    if (!(error instanceof DaemonError) || error.status === null) throw error
    return error.status === 404 && /\bbackup\b/i.test(error.message)
  }
}
