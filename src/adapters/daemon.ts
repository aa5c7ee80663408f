import { type DaemonBackups, httpDaemonBackups } from './daemon-backups.ts'
import { type DaemonFiles, httpDaemonFiles } from './daemon-files.ts'
import {
  ask,
  type CircuitGuard,
  type DaemonTarget,
  defaultTimeout,
  tell as tellDaemon,
  unless,
} from './daemon-http.ts'

export { DaemonError } from './daemon-http.ts'

export type PowerSignal = 'start' | 'stop' | 'restart' | 'kill'

/** What a daemon says of a server. Sizes in bytes, uptime in milliseconds; it may leave out anything. */
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

/** The same with the name of the server. */
export type ListedServer = DaemonServer & { configuration?: { uuid?: string } }

/** The daemon of one node, in the panel's words. Every call may throw a `DaemonError`. */
export type Daemon = DaemonBackups & {
  /** Version and machine of the daemon. Wings: GET /api/system */
  system: () => Promise<{ version?: string }>
  /** State and use of one server. Wings: GET /api/servers/{uuid} */
  showServer: (uuid: string) => Promise<DaemonServer>
  /** The same of every server of the node, each named by its configuration. Wings: GET /api/servers */
  listServers: () => Promise<ListedServer[]>
  /** Makes the daemon fetch, create and install a server. Wings: POST /api/servers */
  createServer: (uuid: string, startOnCompletion: boolean) => Promise<void>
  /** The daemon holds the server no more; not holding it before is fine. Wings: DELETE /api/servers/{uuid} */
  deleteServer: (uuid: string) => Promise<void>
  /** Makes the daemon fetch the server's configuration again. Wings: POST /api/servers/{uuid}/sync */
  syncServer: (uuid: string) => Promise<void>
  /** Accepts to install a server again, which then happens by itself. Wings: POST /api/servers/{uuid}/reinstall */
  reinstallServer: (uuid: string) => Promise<void>
  /** Accepts a change of the power state, which then happens by itself. Wings: POST /api/servers/{uuid}/power */
  setPower: (uuid: string, signal: PowerSignal) => Promise<void>
  /** Writes lines to the console. Wings: POST /api/servers/{uuid}/commands */
  sendCommands: (uuid: string, commands: string[]) => Promise<void>
  /**
   * Closes the user's consoles and SFTP sessions on these servers and refuses the tokens he was given
   * so far; 404 from daemons before 1.12. Wings: POST /api/deauthorize-user
   */
  deauthorizeUser: (userUuid: string, serverUuids: string[]) => Promise<void>
  /** Refuses tokens with these names on one server. Wings: POST /api/servers/{uuid}/ws/deny */
  denyTokens: (uuid: string, names: string[]) => Promise<void>
  /**
   * Has the daemon send a server to another one, which `token` lets it into; it stops the server before it
   * answers. Wings: POST /api/servers/{uuid}/transfer
   */
  startTransfer: (uuid: string, destination: { url: string; token: string }) => Promise<void>
  /** The daemon sends the server to nobody; having nothing to stop is fine. Wings: DELETE /api/servers/{uuid}/transfer */
  cancelTransfer: (uuid: string) => Promise<void>
  /** Hands the daemon its own configuration. Wings: POST /api/update */
  updateConfiguration: (configuration: object) => Promise<void>
  /** Files of one server. */
  files: (uuid: string) => DaemonFiles
}

/** The daemon at an address, over HTTP. */
export function httpDaemon(
  url: string,
  token: () => Promise<string>,
  {
    timeout = defaultTimeout,
    guard,
    traceparent = null,
  }: {
    timeout?: number | undefined
    guard?: (timeout: number) => CircuitGuard
    traceparent?: string | null
  } = {},
): Daemon {
  const guarding: CircuitGuard = guard?.(timeout) ?? ((call) => call())
  const target: DaemonTarget = { url, token, timeout, guard: guarding, traceparent }
  const tell = (method: string, path: string, json?: object) =>
    tellDaemon(target, method, path, json ? { json } : {})
  const at = (uuid: string) => `/api/servers/${uuid}`
  return {
    system: () => ask(target, 'GET', '/api/system'),
    showServer: (uuid) => ask(target, 'GET', at(uuid)),
    listServers: () => ask(target, 'GET', '/api/servers'),
    createServer: (uuid, startOnCompletion) =>
      tell('POST', '/api/servers', { uuid, start_on_completion: startOnCompletion }),
    deleteServer: (uuid) => tell('DELETE', at(uuid)).catch(unless(404)),
    syncServer: (uuid) => tell('POST', `${at(uuid)}/sync`),
    reinstallServer: (uuid) => tell('POST', `${at(uuid)}/reinstall`),
    setPower: (uuid, signal) => tell('POST', `${at(uuid)}/power`, { action: signal }),
    sendCommands: (uuid, commands) => tell('POST', `${at(uuid)}/commands`, { commands }),
    deauthorizeUser: (userUuid, serverUuids) =>
      tell('POST', '/api/deauthorize-user', { user: userUuid, servers: serverUuids }),
    denyTokens: (uuid, names) => tell('POST', `${at(uuid)}/ws/deny`, { jtis: names }),
    startTransfer: (uuid, destination) =>
      tellDaemon(target, 'POST', `${at(uuid)}/transfer`, {
        json: { ...destination, server: { uuid, start_on_completion: false } },
        // The server may take 15 seconds to stop.
        patience: 2 * target.timeout,
      }),
    cancelTransfer: (uuid) => tell('DELETE', `${at(uuid)}/transfer`).catch(unless(404, 409)),
    updateConfiguration: (configuration) => tell('POST', '/api/update', configuration),
    ...httpDaemonBackups(target),
    files: (uuid) => httpDaemonFiles(target, uuid),
  }
}
