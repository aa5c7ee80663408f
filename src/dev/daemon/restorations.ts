import { readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { runInBackground } from './background-work.ts'
import { openBackup } from './backups.ts'
import type { Daemon } from './daemon.ts'
import { FileError } from './file-errors.ts'
import { publish, type GameServer } from './game-server.ts'
import { describeError } from './panel-client.ts'
import { stopWithin } from './power.ts'
import { volumeOf, writeFile } from './server-files.ts'
import { readTar } from './tar-archive.ts'

const stopTimeoutMs = 120_000
const gzipTypes = 'application/x-gzip application/gzip'

/** Opens an archive on this node, which the caller destroys. Rejects with ENOENT when it is missing. */
export async function openLocalArchive(daemon: Daemon, server: GameServer, uuid: string): Promise<Readable> {
  const { handle } = await openBackup(daemon, server, uuid)
  return handle.createReadStream()
}

/** Opens an archive at a URL, which the caller destroys; redirects are followed. Refuses with 400 other types than gzip. */
export async function openRemoteArchive(daemon: Daemon, url: string): Promise<Readable> {
  const answer = await fetch(url)
  const type = answer.headers.get('content-type') ?? ''
  const isMissing = daemon.settings.profile === 'pelican' && answer.status !== 200
  if (!answer.body || type === '' || !gzipTypes.includes(type) || isMissing) {
    await answer.body?.cancel()
    throw new FileError(400, 'The URL does not lead to a gzip archive.')
  }
  return Readable.fromWeb(answer.body as WebStream)
}

/** Removes everything in the server's folder. */
export async function removeAllFiles(server: GameServer): Promise<void> {
  for (const name of await readdir(server.directory)) {
    await rm(join(server.directory, name), { recursive: true, force: true })
  }
}

/**
 * Stops the server and extracts an archive over its files in the background, then reports the outcome to the panel and
 * publishes it. The server is suspended meanwhile and not suspended afterwards, whatever it was before, as in Wings.
 * Wings: POST /api/servers/{uuid}/backup/{backup}/restore
 */
export function startRestoration(daemon: Daemon, server: GameServer, uuid: string, archive: Readable): void {
  // Errors reach the code that reads the archive.
  archive.on('error', () => {})
  runInBackground(daemon, server.restorations, async (signal) => {
    server.suspended = true
    let successful = false
    try {
      await restore(daemon, server, archive, signal)
      successful = true
    } catch (error) {
      daemon.log(`${server.uuid}: backup ${uuid} was not restored: ${describeError(error)}`)
    } finally {
      archive.destroy()
    }
    if (daemon.closing || server.deleted) return
    await report(daemon, uuid, successful)
    if (daemon.closing || server.deleted) return
    server.suspended = false
    publish(server, 'daemon message', 'The restoration of the backup has finished.')
    publish(server, 'backup restore completed', '')
  })
}

async function restore(
  daemon: Daemon,
  server: GameServer,
  archive: Readable,
  signal: AbortSignal,
): Promise<void> {
  if (!(await stopWithin(daemon, server, stopTimeoutMs))) throw new Error('the server did not stop')
  const volume = volumeOf(daemon, server)
  await readTar(addAbortSignal(signal, archive), async (entry) => {
    signal.throwIfAborted()
    if (entry.kind !== 'file') return
    publish(server, 'daemon message', `(restoring): ${entry.path}`)
    const diskPath = await writeFile(volume, entry.path, entry.content, entry.mode)
    if (entry.modified) await utimes(diskPath, entry.modified, entry.modified)
  })
}

async function report(daemon: Daemon, uuid: string, successful: boolean): Promise<void> {
  try {
    await daemon.panel.post(`/backups/${uuid}/restore`, { successful })
  } catch (error) {
    daemon.log(`the panel refused the report of restoring ${uuid}: ${describeError(error)}`)
  }
}
