import type { Readable } from 'node:stream'
import { Hono, type Context } from 'hono'
import { isBackupAdapter, isBackupUuid, removeBackup, startBackup, type BackupAdapter } from '../backups.ts'
import type { Daemon } from '../daemon.ts'
import { FileError } from '../file-errors.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'
import { describeError } from '../panel-client.ts'
import { readBody, readBoolean, readString } from '../request-body.ts'
import { openLocalArchive, openRemoteArchive, removeAllFiles, startRestoration } from '../restorations.ts'

type RestoreRequest = { adapter: BackupAdapter; url: string; truncate: boolean }

/** Creates the routes of backups. Wings: POST /api/servers/{uuid}/backup, POST …/backup/{backup}/restore, DELETE …/backup/{backup} */
export function backupRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.post('/api/servers/:server/backup', withServer, async (c) => {
    const body = await readBody(c.req)
    const [adapter, uuid] = [readString(body, 'adapter'), readString(body, 'uuid')]
    const ignored = readString(body, 'ignore')
    if (!isBackupAdapter(adapter)) return errorResponse(c, 500, 'The backup adapter is not supported.')
    if (!isBackupUuid(uuid)) return errorResponse(c, 400, 'The uuid is not valid.')
    startBackup(daemon, c.get('server'), { uuid, adapter, ignored })
    return c.body(null, 202)
  })
  app.post('/api/servers/:server/backup/:backup/restore', withServer, (c) =>
    restoreBackup(daemon, c, c.req.param('backup')),
  )
  app.delete('/api/servers/:server/backup/:backup', withServer, async (c) => {
    if (await removeBackup(daemon, c.get('server'), c.req.param('backup'))) return c.body(null, 204)
    return errorResponse(c, 404, 'The backup is not on this node.')
  })
  return app
}

async function restoreBackup(daemon: Daemon, c: Context<DaemonEnv>, uuid: string): Promise<Response> {
  const server = c.get('server')
  const body = await readBody(c.req)
  const [adapter, url] = [readString(body, 'adapter'), readString(body, 'download_url')]
  const truncate = readBoolean(body, 'truncate_directory')
  if (!isBackupAdapter(adapter)) return errorResponse(c, 400, 'The backup adapter is not supported.')
  if (adapter === 's3' && url === '') return errorResponse(c, 400, 'The request has no download_url.')
  try {
    const archive = await openArchive(daemon, c, uuid, { adapter, url, truncate })
    startRestoration(daemon, server, uuid, archive)
    return c.body(null, 202)
  } catch (error) {
    daemon.log(`${server.uuid}: backup ${uuid} was not restored: ${describeError(error)}`)
    return errorResponse(c, error instanceof FileError ? error.status : 500, 'The archive cannot be read.')
  }
}

/** Opens the archive and truncates the server if requested. 1.11 truncates before it checks that there is an archive. */
async function openArchive(
  daemon: Daemon,
  c: Context<DaemonEnv>,
  uuid: string,
  { adapter, url, truncate }: RestoreRequest,
): Promise<Readable> {
  const server = c.get('server')
  const truncatesFirst = daemon.settings.profile === '1.11'
  if (truncate && truncatesFirst) await removeAllFiles(server)
  const archive = await (adapter === 'wings'
    ? openLocalArchive(daemon, server, uuid)
    : openRemoteArchive(daemon, url))
  try {
    if (truncate && !truncatesFirst) await removeAllFiles(server)
    return archive
  } catch (error) {
    archive.destroy()
    throw error
  }
}
