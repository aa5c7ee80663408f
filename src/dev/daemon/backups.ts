import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { runInBackground } from './background-work.ts'
import { type ArchiveDetails, writeBackupArchive } from './backup-archive.ts'
import { type ReportedPart, uploadArchive } from './backup-upload.ts'
import type { Daemon } from './daemon.ts'
import { ignoreMissing } from './file-errors.ts'
import { publish, type GameServer } from './game-server.ts'
import { describeError } from './panel-client.ts'
import { openFile, type OpenFile, volumeOf } from './server-files.ts'

/** Where an archive is kept: on this node or in the panel's object store. */
export type BackupAdapter = 'wings' | 's3'

/** A backup to create. `ignored` is read as a .gitignore. */
export type BackupRequest = { uuid: string; adapter: BackupAdapter; ignored: string }

const maxIgnoreFileBytes = 32 * 1024
const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Checks whether a value is a backup adapter. */
export const isBackupAdapter = (value: string): value is BackupAdapter => value === 'wings' || value === 's3'

/** Checks whether a value is the UUID of a backup and so a safe file name. */
export const isBackupUuid = (value: string) => uuidPattern.test(value)

/**
 * Creates a backup in the background, reports it to the panel and publishes the outcome. An archive whose report the
 * panel refuses is removed. Wings: POST /api/servers/{uuid}/backup
 */
export function startBackup(daemon: Daemon, server: GameServer, request: BackupRequest): void {
  runInBackground(daemon, server.backups, async (signal) => {
    const diskPath = archivePath(daemon, server, request.uuid)
    let archive: (ArchiveDetails & { parts: ReportedPart[] | null }) | null = null
    try {
      archive = await createArchive(daemon, server, request, diskPath, signal)
    } catch (error) {
      daemon.log(`${server.uuid}: backup ${request.uuid} failed: ${describeError(error)}`)
    }
    // A daemon that is closing leaves the archive on the disk and reports nothing.
    if (daemon.closing) return
    const isAccepted = !server.deleted && (await report(daemon, request.uuid, archive))
    if (daemon.closing) return
    if (isAccepted || !archive) publishOutcome(server, request.uuid, archive)
    if (!isAccepted || !archive) await rm(diskPath, { force: true })
  })
}

/** Opens the archive of a backup on this node; the caller closes it. Rejects with ENOENT when there is none. */
export async function openBackup(daemon: Daemon, server: GameServer, uuid: string): Promise<OpenFile> {
  const handle = await open(archivePath(daemon, server, uuid))
  return { handle, name: `${uuid}.tar.gz`, stats: await handle.stat() }
}

/** Removes an archive; false when it was not on this node. Wings: DELETE …/backup/{uuid} */
export async function removeBackup(daemon: Daemon, server: GameServer, uuid: string): Promise<boolean> {
  try {
    await rm(archivePath(daemon, server, uuid))
    return true
  } catch (error) {
    ignoreMissing(error)
    return false
  }
}

/** Builds the path of an archive; only pelican has a folder for each server. */
function archivePath({ settings }: Daemon, server: GameServer, uuid: string): string {
  if (!isBackupUuid(uuid)) throw Object.assign(new Error(`${uuid} is not a backup`), { code: 'ENOENT' })
  const folder = settings.profile === 'pelican' ? [server.uuid] : []
  return join(settings.dataDirectory, 'backups', ...folder, `${uuid}.tar.gz`)
}

async function createArchive(
  daemon: Daemon,
  server: GameServer,
  { uuid, adapter, ignored }: BackupRequest,
  diskPath: string,
  signal: AbortSignal,
) {
  await mkdir(dirname(diskPath), { recursive: true })
  const lines = ignored === '' ? await readIgnoreFile(daemon, server) : ignored
  const details = await writeBackupArchive(server.directory, diskPath, lines, signal)
  if (adapter === 'wings') return { ...details, parts: null }
  const parts = await uploadArchive(daemon, uuid, diskPath, details.size, signal)
  await rm(diskPath)
  return { ...details, parts }
}

/** Reads the server's ignore file, the default of `ignored`. A link or a file that is too long counts as missing. */
async function readIgnoreFile(daemon: Daemon, server: GameServer): Promise<string> {
  const name = daemon.settings.profile === 'pelican' ? '.pelicanignore' : '.pteroignore'
  try {
    const { handle, stats } = await openFile(volumeOf(daemon, server), name)
    try {
      const isReadable = stats.isFile() && stats.size <= maxIgnoreFileBytes
      return isReadable ? await text(handle.createReadStream({ autoClose: false })) : ''
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}

/** Reports a backup to the panel; false when the panel refuses it. Wings: POST /api/remote/backups/{uuid} */
async function report(
  daemon: Daemon,
  uuid: string,
  archive: (ArchiveDetails & { parts: ReportedPart[] | null }) | null,
): Promise<boolean> {
  const body = archive
    ? {
        checksum: archive.checksum,
        checksum_type: 'sha1',
        size: archive.size,
        successful: true,
        parts: archive.parts,
      }
    : { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }
  try {
    await daemon.panel.post(`/backups/${uuid}`, body)
    return true
  } catch (error) {
    daemon.log(`the panel refused the report of backup ${uuid}: ${describeError(error)}`)
    return false
  }
}

function publishOutcome(server: GameServer, uuid: string, archive: ArchiveDetails | null): void {
  const outcome = {
    uuid,
    is_successful: archive !== null,
    checksum: archive?.checksum ?? '',
    checksum_type: 'sha1',
    file_size: archive?.size ?? 0,
  }
  publish(server, 'backup completed', JSON.stringify(outcome))
}
