import type { Readable } from 'node:stream'
import { Hono, type Context } from 'hono'
import { isBackupAdapter, isBackupUuid, removeBackup, startBackup, type BackupAdapter } from '../backups.ts'
import type { Daemon } from '../daemon.ts'
import { FileError } from '../file-errors.ts'
import { errorAnswer, requireServer, type DaemonEnv } from '../http-context.ts'
import { describe } from '../panel-client.ts'
import { readBody, readBoolean, readString } from '../request-body.ts'
import { openLocalArchive, openRemoteArchive, removeAllFiles, startRestoration } from '../restorations.ts'

type RestoreRequest = { adapter: BackupAdapter; url: string; isTruncating: boolean }

/** Wings: POST /api/servers/{uuid}/backup, POST …/backup/{backup}/restore, DELETE …/backup/{backup} */
export function backupRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const known = requireServer(daemon)
  app.post('/api/servers/:server/backup', known, async (c) => {
    const body = await readBody(c.req)
    const [adapter, uuid] = [readString(body, 'adapter'), readString(body, 'uuid')]
    const ignored = readString(body, 'ignore')
    if (!isBackupAdapter(adapter)) return errorAnswer(c, 500, 'There is no such place for archives.')
    if (!isBackupUuid(uuid)) return errorAnswer(c, 400, 'The uuid is none.')
    startBackup(daemon, c.get('server'), { uuid, adapter, ignored })
    return c.body(null, 202)
  })
  app.post('/api/servers/:server/backup/:backup/restore', known, (c) =>
    restoreBackup(daemon, c, c.req.param('backup')),
  )
  app.delete('/api/servers/:server/backup/:backup', known, async (c) => {
    if (await removeBackup(daemon, c.get('server'), c.req.param('backup'))) return c.body(null, 204)
    return errorAnswer(c, 404, 'The backup is not on this node.')
  })
  return app
}

async function restoreBackup(daemon: Daemon, c: Context<DaemonEnv>, uuid: string): Promise<Response> {
  const server = c.get('server')
  const body = await readBody(c.req)
  const [adapter, url] = [readString(body, 'adapter'), readString(body, 'download_url')]
  const isTruncating = readBoolean(body, 'truncate_directory')
  if (!isBackupAdapter(adapter)) return errorAnswer(c, 400, 'There is no such place for archives.')
  if (adapter === 's3' && url === '') return errorAnswer(c, 400, 'The request names no address.')
  try {
    const archive = await prepare(daemon, c, uuid, { adapter, url, isTruncating })
    startRestoration(daemon, server, uuid, archive)
    return c.body(null, 202)
  } catch (error) {
    daemon.log(`${server.uuid}: backup ${uuid} not restored: ${describe(error)}`)
    return errorAnswer(c, error instanceof FileError ? error.status : 500, 'The archive cannot be read.')
  }
}

/** 1.11 removes the server's files before it looks whether there is anything to restore. */
async function prepare(
  daemon: Daemon,
  c: Context<DaemonEnv>,
  uuid: string,
  { adapter, url, isTruncating }: RestoreRequest,
): Promise<Readable> {
  const server = c.get('server')
  const isHasty = daemon.settings.profile === '1.11'
  if (isTruncating && isHasty) await removeAllFiles(server)
  const archive = await (adapter === 'wings'
    ? openLocalArchive(daemon, server, uuid)
    : openRemoteArchive(daemon, url))
  try {
    if (isTruncating && !isHasty) await removeAllFiles(server)
    return archive
  } catch (error) {
    archive.destroy()
    throw error
  }
}
