import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { list } from 'tar'
import { expect } from 'vitest'
import type { DaemonOptions } from '../../src/dev/daemon/daemon.ts'
import { startDaemonWithServer } from './daemon-server.ts'
import { callDaemon, openSocket, signToken } from './development-daemon.ts'
import { until } from './until.ts'

/** A development daemon with one server and the UUID of one backup. */
export type DaemonWithBackup = Awaited<ReturnType<typeof startDaemonWithBackup>>

/** The report of a backup that failed. */
export const failedReport = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }

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
  /** Waits for at least so many reports: a daemon that is refused goes on. */
  const reported = (count = 1, end = '') =>
    until(() => expect(reports(end).length).toBeGreaterThanOrEqual(count))
  const place = (...parts: string[]) => join(at.daemon.dataDirectory, 'backups', ...parts, `${backup}.tar.gz`)
  const state = async () => (await api('GET', '')).json()
  return {
    ...at,
    backup,
    api,
    order,
    restore: (changes: object = {}) =>
      api('POST', `/backup/${backup}/restore`, { adapter: 'wings', truncate_directory: false, ...changes }),
    /** Starts a backup and waits until it is reported. */
    make: async (changes: object = {}) => {
      expect((await order(changes)).status).toBe(202)
      await reported()
    },
    /** The reports of the backup, or with `/restore` of its restoration. */
    reports,
    reported,
    /** The path of the archive on the node. */
    place,
    /** Lists the paths in the archive. */
    names: async () => {
      const found: string[] = []
      await list({ file: place(), onReadEntry: ({ path }) => void found.push(path) })
      return found.toSorted()
    },
    put: (path: string, content: string | Buffer = path) => writeFile(join(at.folder, path), content),
    onDisk: (path: string) => readFile(join(at.folder, path), 'utf8'),
    state,
    /** Opens a console, which receives all further events. */
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
