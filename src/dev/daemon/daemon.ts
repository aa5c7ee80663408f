import { resolve } from 'node:path'
import type { ActivityQueue } from './activity.ts'
import type { Denylist } from './denylist.ts'
import type { Fault } from './faults.ts'
import type { GameServer } from './game-server.ts'
import type { OneTimeTokens } from './one-time-tokens.ts'
import type { PanelClient, RetryPolicy } from './panel-client.ts'
import type { StateFile } from './state-file.ts'

/**
 * The release line of Wings to imitate where releases differ. `pelican` is the fork of that name, without the routes
 * that only it has.
 */
export type Profile = '1.11' | '1.12' | '1.13' | 'pelican'

/** The options of the development daemon. Durations are in milliseconds. */
export type DaemonOptions = {
  panelUrl: string
  tokenId: string
  token: string
  uuid: string
  dataDirectory: string
  host?: string
  port?: number
  profile?: Profile
  allowedOrigins?: string[]
  /** The file for the panel's changes to the configuration; without one they last until the daemon is closed. */
  configFile?: string
  activityInterval?: number
  tokenCheckInterval?: number
  stopTimeout?: number
  crashTimeout?: number
  /** Whether servers may fetch files from loopback and private addresses, which Wings never allows. */
  allowLocalPulls?: boolean
  retry?: Partial<RetryPolicy>
  faults?: Fault[]
  log?: (line: string) => void
}

/** Settings that are read at the start: changes of `remote` and `allowed_origins` apply here after the next one. */
export type DaemonSettings = {
  panelUrl: string
  panelOrigin: string
  dataDirectory: string
  /** The folder for files that are still being received. */
  spoolDirectory: string
  profile: Profile
  version: string
  allowedOrigins: string[]
  configFile: string | null
  activityInterval: number
  tokenCheckInterval: number
  stopTimeout: number
  crashTimeout: number
  allowLocalPulls: boolean
  retry: RetryPolicy
}

/** The credentials of this node: `inbound` for its API and signed tokens, `outbound` for calls to the panel. */
export type Credentials = {
  inbound: { token: string }
  outbound: { tokenId: string; token: string }
}

/** The state of a running daemon. */
export type Daemon = {
  settings: DaemonSettings
  credentials: Credentials
  config: Record<string, unknown>
  booted: boolean
  closing: boolean
  servers: Map<string, GameServer>
  panel: PanelClient
  denylist: Denylist
  oneTimeTokens: OneTimeTokens
  activity: ActivityQueue
  states: StateFile
  faults: Fault[]
  log: (line: string) => void
}

const versions: Record<Profile, string> = {
  '1.11': '1.11.11',
  '1.12': '1.12.2',
  '1.13': '1.13.3',
  pelican: '1.0.0',
}

/** Applies Wings' defaults and removes trailing slashes of the panel's URL. */
export function resolveSettings(options: DaemonOptions): DaemonSettings {
  const profile = options.profile ?? '1.13'
  const panelUrl = options.panelUrl.replace(/\/+$/, '')
  return {
    panelUrl,
    panelOrigin: new URL(panelUrl).origin,
    dataDirectory: resolve(options.dataDirectory),
    spoolDirectory: resolve(options.dataDirectory, 'spool'),
    profile,
    version: versions[profile],
    allowedOrigins: options.allowedOrigins ?? [],
    configFile: options.configFile ?? null,
    activityInterval: options.activityInterval ?? 60_000,
    tokenCheckInterval: options.tokenCheckInterval ?? 30_000,
    stopTimeout: options.stopTimeout ?? 600_000,
    crashTimeout: options.crashTimeout ?? 60_000,
    allowLocalPulls: options.allowLocalPulls ?? false,
    retry: { first: 500, max: 12_000, total: 30_000, timeout: 30_000, ...options.retry },
  }
}

/** Builds the running configuration in the shape of config.yml, for `{{config.…}}` and POST /api/update. */
export function buildInitialConfig(options: DaemonOptions): Record<string, unknown> {
  return {
    debug: false,
    app_name: 'Roost',
    uuid: options.uuid,
    token_id: options.tokenId,
    token: options.token,
    api: {
      host: options.host ?? '127.0.0.1',
      port: options.port ?? 0,
      ssl: { enabled: false },
      disable_remote_download: false,
      upload_limit: 100,
    },
    system: { data: resolve(options.dataDirectory, 'volumes'), sftp: { bind_port: 2022 } },
    docker: { network: { interface: '127.0.0.1', name: 'local' } },
    remote: options.panelUrl,
    allowed_origins: options.allowedOrigins ?? [],
  }
}
