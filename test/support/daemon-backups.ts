import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { list } from 'tar'
import { expect, vi } from 'vitest'
import type { DaemonOptions } from '../../src/platform/local/daemon/daemon.ts'
import { startDaemonWithServer } from './daemon-server.ts'
import { callDaemon, openSocket, signToken } from './development-daemon.ts'

/** A development daemon with one server, of which one backup is made and restored. */
export type DaemonWithBackup = Awaited<ReturnType<typeof startDaemonWithBackup>>

/** What the panel is told of a backup that failed. */
export const failedReport = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }

/** Waits for what slow machines take their time for. */
export const until = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 10 })

/** Starts a daemon whose server has no files. */
export async function startDaemonWithBackup(options: Partial<DaemonOptions> = {}) {
  const at = await startDaemonWithServer(options)
  const backup = randomUUID()
  /** Calls a route of the server. */
  const api = (method: string, rest: string, body?: unknown) =>
    callDaemon(at.daemon, method, `/api/servers/${at.uuid}${rest}`, body)
  const order = (changes: object = {}) =>
    api('POST', '/backup', { adapter: 'wings', uuid: backup, ignore: '', ...changes })
  const reports = (end = '') =>
    at.panel.callsTo('POST', `/backups/${backup}${end}`).map(({ body }) => body as any)
  const reported = (count = 1, end = '') => until(() => expect(reports(end)).toHaveLength(count))
  const place = (...parts: string[]) => join(at.daemon.dataDirectory, 'backups', ...parts, `${backup}.tar.gz`)
  const state = async () => (await api('GET', '')).json()
  return {
    ...at,
    backup,
    api,
    order,
    restore: (changes: object = {}) =>
      api('POST', `/backup/${backup}/restore`, { adapter: 'wings', truncate_directory: false, ...changes }),
    /** Orders a backup and waits until it is reported. */
    make: async (changes: object = {}) => {
      expect((await order(changes)).status).toBe(202)
      await reported()
    },
    /** What the panel was told of the backup, or with `/restore` of its restoration. */
    reports,
    reported,
    /** Where the archive lies on the node. */
    place,
    /** The paths that the archive holds. */
    names: async () => {
      const found: string[] = []
      await list({ file: place(), onReadEntry: ({ path }) => void found.push(path) })
      return found.toSorted()
    },
    put: (path: string, content: string | Buffer = path) => writeFile(join(at.folder, path), content),
    onDisk: (path: string) => readFile(join(at.folder, path), 'utf8'),
    state,
    /** A console that hears what happens from now on. */
    watch: async () => {
      const socket = await openSocket(at.daemon, at.uuid, at.panel.url, signToken(at.uuid))
      await until(() => expect(socket.texts('status')).toHaveLength(1))
      return socket
    },
    /** Installs the server's program and starts it. */
    run: async () => {
      await callDaemon(at.daemon, 'POST', '/api/servers', { uuid: at.uuid, start_on_completion: true })
      await until(async () => expect((await state()).state).toBe('running'))
    },
  }
}
