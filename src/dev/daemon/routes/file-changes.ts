import { Hono, type Context } from 'hono'
import type { Daemon } from '../daemon.ts'
import { createFileDenylist, refuseDenied } from '../file-denylist.ts'
import { handleFileErrors, FileError } from '../file-errors.ts'
import { requireServer, type DaemonEnv } from '../http-context.ts'
import { readBody, readObjects, readString, readStrings } from '../request-body.ts'
import {
  changeMode,
  duplicateFile,
  createDirectory,
  removeFile,
  renameFile,
  volumeOf,
} from '../server-files.ts'
import { cleanPath } from '../server-paths.ts'

/** Creates the routes that change files. Wings: PUT /api/servers/{uuid}/files/rename, POST …/files/copy, create-directory, delete, chmod */
export function fileChangeRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.onError(handleFileErrors(daemon))
  app.put('/api/servers/:server/files/rename', withServer, async (c) => {
    const { root, files } = readEntries(await readBody(c.req), 'from', 'to')
    await forEach(files, async ([from, to]) => {
      const paths = [cleanPath(root, from), cleanPath(root, to)] as const
      refuseDenied(c.get('server'), ...paths)
      await renameFile(volumeOf(daemon, c.get('server')), ...paths)
    })
    return c.body(null, 204)
  })
  app.post('/api/servers/:server/files/copy', withServer, async (c) => {
    const location = readString(await readBody(c.req), 'location')
    refuseDenied(c.get('server'), location)
    await duplicateFile(volumeOf(daemon, c.get('server')), location)
    return c.body(null, 204)
  })
  app.post('/api/servers/:server/files/create-directory', withServer, async (c) => {
    const body = await readBody(c.req)
    const path = cleanPath(readString(body, 'path'), readString(body, 'name'))
    await createDirectory(volumeOf(daemon, c.get('server')), path, daemon.settings.profile)
    return c.body(null, 204)
  })
  app.post('/api/servers/:server/files/delete', withServer, async (c) => {
    const body = await readBody(c.req)
    await removeFiles(daemon, c, readString(body, 'root'), readStrings(body, 'files'))
    return c.body(null, 204)
  })
  app.post('/api/servers/:server/files/chmod', withServer, async (c) => {
    const { root, files } = readEntries(await readBody(c.req), 'file', 'mode')
    if (!files.every(([, mode]) => /^[0-7]{1,10}$/.test(mode)))
      throw new FileError(400, 'A mode is not an octal number.')
    await forEach(files, ([file, mode]) =>
      changeMode(volumeOf(daemon, c.get('server')), cleanPath(root, file), Number.parseInt(mode, 8)),
    )
    return c.body(null, 204)
  })
  return app
}

async function removeFiles(
  daemon: Daemon,
  c: Context<DaemonEnv>,
  root: string,
  names: string[],
): Promise<void> {
  const { profile } = daemon.settings
  const isDenied = createFileDenylist(c.get('server'))
  await forEach(names, async (name) => {
    const path = cleanPath(root, name)
    if (profile === 'pelican' && isDenied(path)) return
    await removeFile(volumeOf(daemon, c.get('server')), path, profile)
  })
}

function readEntries(body: Record<string, unknown>, first: string, second: string) {
  const files = readObjects(body, 'files').map(
    (entry) => [readString(entry, first), readString(entry, second)] as const,
  )
  return { root: readString(body, 'root'), files }
}

/** Runs `work` for all entries at once and throws the first failure. Refuses an empty list with 422. */
async function forEach<T>(entries: T[], work: (entry: T) => Promise<void>): Promise<void> {
  if (entries.length === 0) throw new FileError(422, 'The request names no files.')
  const results = await Promise.allSettled(entries.map(work))
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}
