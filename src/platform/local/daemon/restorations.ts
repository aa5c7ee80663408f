import { readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { runInBackground } from './background-work.ts'
import { openBackup } from './backups.ts'
import type { Daemon } from './daemon.ts'
import { FileError } from './file-errors.ts'
import { publish, type GameServer } from './game-server.ts'
import { describe } from './panel-client.ts'
import { haveStopped } from './power.ts'
import { volumeOf, writeFile } from './server-files.ts'
import { readTar } from './tar-archive.ts'

const longestStop = 120_000
const gzipTypes = 'application/x-gzip application/gzip'

/** An archive on this node, which the caller destroys. Rejects with ENOENT when it is not here. */
export async function openLocalArchive(daemon: Daemon, server: GameServer, uuid: string): Promise<Readable> {
  const { handle } = await openBackup(daemon, server, uuid)
  return handle.createReadStream()
}

/** An archive elsewhere, which the caller destroys; redirects are followed. Refuses with 400 what is not called a gzip. */
export async function openRemoteArchive(daemon: Daemon, url: string): Promise<Readable> {
  const answer = await fetch(url)
  const type = answer.headers.get('content-type') ?? ''
  const isMissing = daemon.settings.profile === 'pelican' && answer.status !== 200
  if (!answer.body || type === '' || !gzipTypes.includes(type) || isMissing) {
    await answer.body?.cancel()
    throw new FileError(400, 'At the address is no gzip.')
  }
  return Readable.fromWeb(answer.body as WebStream)
}

/** Nothing is in the server's folder afterwards. */
export async function removeAllFiles(server: GameServer): Promise<void> {
  for (const name of await readdir(server.directory)) {
    await rm(join(server.directory, name), { recursive: true, force: true })
  }
}

/**
 * Stops the server and writes the files of an archive over its own in the background, then tells the panel and
 * those who watch how it went. The server counts as suspended meanwhile, and afterwards as not suspended,
 * whatever it was before: as in Wings. Wings: POST /api/servers/{uuid}/backup/{backup}/restore
 */
export function startRestoration(daemon: Daemon, server: GameServer, uuid: string, archive: Readable): void {
  // What goes wrong is heard where the archive is read.
  archive.on('error', () => {})
  runInBackground(daemon, server.restorations, async (signal) => {
    server.suspended = true
    let successful = false
    try {
      await restore(daemon, server, archive, signal)
      successful = true
    } catch (error) {
      daemon.log(`${server.uuid}: backup ${uuid} not restored: ${describe(error)}`)
    } finally {
      archive.destroy()
    }
    if (daemon.closing || server.deleted) return
    await report(daemon, uuid, successful)
    if (daemon.closing || server.deleted) return
    server.suspended = false
    publish(server, 'daemon message', 'The restoration of the server has ended.')
    publish(server, 'backup restore completed', '')
  })
}

async function restore(
  daemon: Daemon,
  server: GameServer,
  archive: Readable,
  signal: AbortSignal,
): Promise<void> {
  if (!(await haveStopped(daemon, server, longestStop))) throw new Error('the server does not stop')
  const volume = volumeOf(daemon, server)
  await readTar(addAbortSignal(signal, archive), async (entry) => {
    signal.throwIfAborted()
    if (entry.kind !== 'file') return
    publish(server, 'daemon message', `(restoring): ${entry.path}`)
    const place = await writeFile(volume, entry.path, entry.content, entry.mode)
    if (entry.modified) await utimes(place, entry.modified, entry.modified)
  })
}

async function report(daemon: Daemon, uuid: string, successful: boolean): Promise<void> {
  try {
    await daemon.panel.post(`/backups/${uuid}/restore`, { successful })
  } catch (error) {
    daemon.log(`the panel did not take the end of restoring ${uuid}: ${describe(error)}`)
  }
}
