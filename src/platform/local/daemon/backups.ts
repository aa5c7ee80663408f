import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { runInBackground } from './background-work.ts'
import { type ArchiveDetails, writeBackupArchive } from './backup-archive.ts'
import { type ReportedPart, uploadArchive } from './backup-upload.ts'
import type { Daemon } from './daemon.ts'
import { ignoreMissing } from './file-errors.ts'
import { publish, type GameServer } from './game-server.ts'
import { describe } from './panel-client.ts'
import { openFile, type OpenFile, volumeOf } from './server-files.ts'

/** Where archives are kept: on this node, or in the panel's object store. */
export type BackupAdapter = 'wings' | 's3'

/** What is to be packed: all but what the lines of `ignored` name, which are read as those of a .gitignore. */
export type BackupRequest = { uuid: string; adapter: BackupAdapter; ignored: string }

const longestIgnoreFile = 32 * 1024
const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether a value names a place for archives. */
export const isBackupAdapter = (value: string): value is BackupAdapter => value === 'wings' || value === 's3'

/** Whether a value may name a backup, and so a file. */
export const isBackupUuid = (value: string) => uuidPattern.test(value)

/**
 * Packs a server in the background and tells the panel how it went, and then those who watch. An archive that
 * the panel does not want is removed. Wings: POST /api/servers/{uuid}/backup
 */
export function startBackup(daemon: Daemon, server: GameServer, request: BackupRequest): void {
  runInBackground(daemon, server.backups, async (signal) => {
    const place = placeOf(daemon, server, request.uuid)
    let made: (ArchiveDetails & { parts: ReportedPart[] | null }) | null = null
    try {
      made = await make(daemon, server, request, place, signal)
    } catch (error) {
      daemon.log(`${server.uuid}: backup ${request.uuid} failed: ${describe(error)}`)
    }
    // A daemon that ends leaves everything as it lies, and nobody hears of it.
    if (daemon.closing) return
    const isTaken = !server.deleted && (await report(daemon, request.uuid, made))
    if (daemon.closing) return
    if (isTaken || !made) announce(server, request.uuid, made)
    if (!isTaken || !made) await rm(place, { force: true })
  })
}

/** The archive of a backup that is on this node. Rejects with ENOENT when it is not. The caller closes it. */
export async function openBackup(daemon: Daemon, server: GameServer, uuid: string): Promise<OpenFile> {
  const handle = await open(placeOf(daemon, server, uuid))
  return { handle, name: `${uuid}.tar.gz`, stats: await handle.stat() }
}

/** The archive is gone afterwards; false when it was not on this node. Wings: DELETE …/backup/{uuid} */
export async function removeBackup(daemon: Daemon, server: GameServer, uuid: string): Promise<boolean> {
  try {
    await rm(placeOf(daemon, server, uuid))
    return true
  } catch (error) {
    ignoreMissing(error)
    return false
  }
}

/** Only pelican keeps the archives of each server apart. */
function placeOf({ settings }: Daemon, server: GameServer, uuid: string): string {
  if (!isBackupUuid(uuid)) throw Object.assign(new Error(`${uuid} is no backup`), { code: 'ENOENT' })
  const folder = settings.profile === 'pelican' ? [server.uuid] : []
  return join(settings.dataDirectory, 'backups', ...folder, `${uuid}.tar.gz`)
}

async function make(
  daemon: Daemon,
  server: GameServer,
  { uuid, adapter, ignored }: BackupRequest,
  place: string,
  signal: AbortSignal,
) {
  await mkdir(dirname(place), { recursive: true })
  const lines = ignored === '' ? await readIgnoreFile(daemon, server) : ignored
  const details = await writeBackupArchive(server.directory, place, lines, signal)
  if (adapter === 'wings') return { ...details, parts: null }
  const parts = await uploadArchive(daemon, uuid, place, details.size, signal)
  await rm(place)
  return { ...details, parts }
}

/** What a server leaves out of every backup that says nothing itself; a link and a long file count as none. */
async function readIgnoreFile(daemon: Daemon, server: GameServer): Promise<string> {
  const name = daemon.settings.profile === 'pelican' ? '.pelicanignore' : '.pteroignore'
  try {
    const { handle, stats } = await openFile(volumeOf(daemon, server), name)
    try {
      const isReadable = stats.isFile() && stats.size <= longestIgnoreFile
      return isReadable ? await text(handle.createReadStream({ autoClose: false })) : ''
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}

/** Tells the panel; false when it does not take it. Wings: POST /api/remote/backups/{uuid} */
async function report(
  daemon: Daemon,
  uuid: string,
  made: (ArchiveDetails & { parts: ReportedPart[] | null }) | null,
): Promise<boolean> {
  const body = made
    ? {
        checksum: made.checksum,
        checksum_type: 'sha1',
        size: made.size,
        successful: true,
        parts: made.parts,
      }
    : { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }
  try {
    await daemon.panel.post(`/backups/${uuid}`, body)
    return true
  } catch (error) {
    daemon.log(`the panel did not take the report of backup ${uuid}: ${describe(error)}`)
    return false
  }
}

function announce(server: GameServer, uuid: string, made: ArchiveDetails | null): void {
  const outcome = {
    uuid,
    is_successful: made !== null,
    checksum: made?.checksum ?? '',
    checksum_type: 'sha1',
    file_size: made?.size ?? 0,
  }
  publish(server, 'backup completed', JSON.stringify(outcome))
}
