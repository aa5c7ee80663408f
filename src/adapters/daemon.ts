import { type DaemonBackups, httpDaemonBackups } from './daemon-backups.ts'
import { type DaemonFiles, httpDaemonFiles } from './daemon-files.ts'
import { readJson } from './daemon-body.ts'
import {
  call,
  type CallGuard,
  type DaemonFetch,
  type DaemonTarget,
  defaultTimeoutMs,
  ignoreStatuses,
  requestJson,
  send,
} from './daemon-http.ts'

export type PowerSignal = 'start' | 'stop' | 'restart' | 'kill'

/** State and usage of a server. Sizes in bytes, uptime in milliseconds; any field may be missing. */
export type DaemonServer = {
  state?: string
  is_suspended?: boolean
  utilization?: {
    memory_bytes?: number
    cpu_absolute?: number
    disk_bytes?: number
    uptime?: number
    network?: { rx_bytes?: number; tx_bytes?: number }
  }
}

/** A server of a list, which its configuration identifies. */
export type ListedServer = DaemonServer & { configuration?: { uuid?: string } }

/** The daemon itself. `clock` is what its machine says, to the second; null where the answer has no date. */
export type DaemonSystem = { version?: string; clock: Date | null }

/** The client of one node's daemon. Every call may throw a `DaemonError`. */
export type Daemon = DaemonBackups & {
  /** Reads the version of the daemon and the time of its clock. Wings: GET /api/system */
  system: (maxWaitMs?: number) => Promise<DaemonSystem>
  /** Reads state and usage of a server. Wings: GET /api/servers/{uuid} */
  showServer: (uuid: string) => Promise<DaemonServer>
  /** Lists the servers of the node with state and usage. Wings: GET /api/servers */
  listServers: (maxWaitMs?: number) => Promise<ListedServer[]>
  /** Makes the daemon fetch, create and install a server; waits at most `maxWaitMs` for it. Wings: POST /api/servers */
  createServer: (uuid: string, startOnCompletion: boolean, maxWaitMs?: number) => Promise<void>
  /** Deletes a server from the node; a missing one is fine. Wings: DELETE /api/servers/{uuid} */
  deleteServer: (uuid: string) => Promise<void>
  /** Makes the daemon fetch the server's configuration again. Wings: POST /api/servers/{uuid}/sync */
  syncServer: (uuid: string) => Promise<void>
  /** Starts a reinstallation in the background. Wings: POST /api/servers/{uuid}/reinstall */
  reinstallServer: (uuid: string) => Promise<void>
  /** Reads the log of the last installation; 404 from daemons that keep it to themselves. Wings: GET /api/servers/{uuid}/install-logs */
  installLog: (uuid: string) => Promise<{ data?: unknown }>
  /** Starts a change of the power state in the background. Wings: POST /api/servers/{uuid}/power */
  setPower: (uuid: string, signal: PowerSignal) => Promise<void>
  /** Writes lines to the console. Wings: POST /api/servers/{uuid}/commands */
  sendCommands: (uuid: string, commands: string[]) => Promise<void>
  /**
   * Closes the user's consoles and SFTP sessions on these servers and revokes the tokens issued so far; 404 from daemons
   * before 1.12. Wings: POST /api/deauthorize-user
   */
  deauthorizeUser: (userUuid: string, serverUuids: string[]) => Promise<void>
  /** Revokes tokens of one server by their ids (`jti`). Wings: POST /api/servers/{uuid}/ws/deny */
  denyTokens: (uuid: string, tokenIds: string[]) => Promise<void>
  /**
   * Makes the daemon send a server to another one, which accepts `token`. The daemon stops the server before it answers.
   * Wings: POST /api/servers/{uuid}/transfer
   */
  startTransfer: (uuid: string, destination: { url: string; token: string }) => Promise<void>
  /** Cancels an outgoing transfer; a missing one is fine. Wings: DELETE /api/servers/{uuid}/transfer */
  cancelTransfer: (uuid: string) => Promise<void>
  /** Replaces the configuration of the daemon. Wings: POST /api/update */
  updateConfiguration: (configuration: object) => Promise<void>
  /** Returns the calls for files of one server. */
  files: (uuid: string) => DaemonFiles
}

type DaemonOptions = {
  timeoutMs?: number | undefined
  guard?: (timeoutMs: number) => CallGuard
  fetch: DaemonFetch
  traceparent?: string | null
  tracestate?: string | null
  /** The uuid of the node, for the log. */
  node?: string | null
}

/** Creates the client of the daemon at an origin. `token` returns the node's secret. */
export function httpDaemon(
  url: string,
  token: () => Promise<string>,
  { timeoutMs = defaultTimeoutMs, guard, fetch, ...options }: DaemonOptions,
): Daemon {
  const callGuard: CallGuard = guard?.(timeoutMs) ?? ((call) => call())
  const { node = null, traceparent = null, tracestate = null } = options
  const trace = { traceparent, tracestate }
  const target: DaemonTarget = { node, url, token, timeoutMs, guard: callGuard, fetch, ...trace }
  const sendJson = (method: string, path: string, json?: object) =>
    send(target, method, path, json ? { json } : {})
  const serverPath = (uuid: string) => `/api/servers/${uuid}`
  return {
    system: (maxWaitMs) => call(target, 'GET', '/api/system', limitWait(maxWaitMs), readSystem),
    showServer: (uuid) => requestJson(target, 'GET', serverPath(uuid)),
    listServers: (maxWaitMs) => requestJson(target, 'GET', '/api/servers', limitWait(maxWaitMs)),
    createServer: (uuid, startOnCompletion, maxWaitMs) =>
      send(target, 'POST', '/api/servers', {
        json: { uuid, start_on_completion: startOnCompletion },
        ...limitWait(maxWaitMs),
      }),
    deleteServer: (uuid) => sendJson('DELETE', serverPath(uuid)).catch(ignoreStatuses(404)),
    syncServer: (uuid) => sendJson('POST', `${serverPath(uuid)}/sync`),
    reinstallServer: (uuid) => sendJson('POST', `${serverPath(uuid)}/reinstall`),
    installLog: (uuid) => requestJson(target, 'GET', `${serverPath(uuid)}/install-logs`),
    setPower: (uuid, signal) => sendJson('POST', `${serverPath(uuid)}/power`, { action: signal }),
    sendCommands: (uuid, commands) => sendJson('POST', `${serverPath(uuid)}/commands`, { commands }),
    deauthorizeUser: (userUuid, serverUuids) =>
      sendJson('POST', '/api/deauthorize-user', { user: userUuid, servers: serverUuids }),
    denyTokens: (uuid, tokenIds) => sendJson('POST', `${serverPath(uuid)}/ws/deny`, { jtis: tokenIds }),
    startTransfer: (uuid, destination) =>
      send(target, 'POST', `${serverPath(uuid)}/transfer`, {
        json: { ...destination, server: { uuid, start_on_completion: false } },
        // The server may take 15 seconds to stop.
        timeoutMs: 2 * target.timeoutMs,
      }),
    cancelTransfer: (uuid) =>
      sendJson('DELETE', `${serverPath(uuid)}/transfer`).catch(ignoreStatuses(404, 409)),
    updateConfiguration: (configuration) => sendJson('POST', '/api/update', configuration),
    ...httpDaemonBackups(target),
    files: (uuid) => httpDaemonFiles(target, uuid),
  }
}

const limitWait = (maxWaitMs: number | undefined) => (maxWaitMs === undefined ? {} : { maxWaitMs })

async function readSystem(response: Response): Promise<DaemonSystem> {
  const dateMs = Date.parse(response.headers.get('date') ?? '')
  const system = await readJson<{ version?: string } | null>(response)
  return { ...system, clock: Number.isNaN(dateMs) ? null : new Date(dateMs) }
}
