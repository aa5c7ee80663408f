import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DaemonOptions } from '../../src/dev/daemon/daemon.ts'
import { callDaemon, discardDaemon, startTestDaemon } from './development-daemon.ts'
import { describeGameServer } from './game-server.ts'
import { startStubPanel } from './stub-panel.ts'

/** A development daemon with one server, and its stub panel. */
export type DaemonWithServer = Awaited<ReturnType<typeof startDaemonWithServer>>

/** Starts a daemon and waits until it has its server, whose egg denies the given names. */
export async function startDaemonWithServer(options: Partial<DaemonOptions> = {}, denylist: string[] = []) {
  const panel = await startStubPanel()
  const uuid = randomUUID()
  const egg = { id: randomUUID(), file_denylist: denylist, features: { local_runtime: [] } }
  panel.servers.set(uuid, describeGameServer(uuid, { egg }))
  const daemon = await startTestDaemon(panel, options)
  await daemon.ready
  return {
    panel,
    daemon,
    uuid,
    /** The folder of the server's files. */
    folder: join(daemon.dataDirectory, 'volumes', uuid),
    /** Calls a file route of the server, such as `POST`, `copy`. */
    call: (method: string, route: string, body?: unknown) =>
      callDaemon(daemon, method, `/api/servers/${uuid}/files/${route}`, body),
    /** Lists the files that are still being received. */
    spooled: () => readdir(join(daemon.dataDirectory, 'spool')),
    close: async () => {
      await discardDaemon(daemon)
      await panel.close()
    },
  }
}

/** Creates functions that call the file routes of the server and read its disk. */
export function fileRoutesOf(at: () => DaemonWithServer) {
  const statusOf = async (method: string, route: string, body?: unknown) =>
    (await at().call(method, route, body)).status
  return {
    statusOf,
    write: (file: string, content: string) =>
      statusOf('POST', `write?file=${encodeURIComponent(file)}`, content),
    read: (file: string) => at().call('GET', `contents?file=${encodeURIComponent(file)}`),
    list: async (directory: string) => {
      const answer = await at().call('GET', `list-directory?directory=${encodeURIComponent(directory)}`)
      return (await answer.json()) as Record<string, unknown>[]
    },
    rename: (from: string, to: string, root = '/') =>
      statusOf('PUT', 'rename', { root, files: [{ from, to }] }),
    remove: (...files: string[]) => statusOf('POST', 'delete', { root: '/', files }),
    chmod: (file: string, mode: unknown) => statusOf('POST', 'chmod', { root: '/', files: [{ file, mode }] }),
    onDisk: (path: string) => readFile(join(at().folder, path), 'utf8'),
  }
}
