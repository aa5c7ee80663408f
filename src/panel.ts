import type { Cache } from './adapters/cache.ts'
import type { CaptchaVerifier } from './adapters/captcha.ts'
import type { Daemon } from './adapters/daemon.ts'
import type { GameQuery } from './adapters/game-query.ts'
import type { Mailer } from './adapters/mail.ts'
import type { MoveIn } from './adapters/move-in.ts'
import type { NodeProbe } from './adapters/node-probe.ts'
import type { MysqlAddress, MysqlHost } from './adapters/mysql-host.ts'
import type { OauthGateway } from './adapters/oauth.ts'
import type { ObjectStore } from './adapters/objects.ts'
import type { PasteService } from './adapters/paste.ts'
import type { PublicFetch } from './adapters/public-fetch.ts'
import type { Queue } from './adapters/queue.ts'
import type { LocaleFiles } from './adapters/locales.ts'
import type { Database } from './db/database.ts'
import type { Acl } from './db/tables/api-keys.ts'
import type { Node } from './db/tables/nodes.ts'
import type { User } from './db/tables/users.ts'
import type { Metrics } from './metrics.ts'

/** An administrator who acts for a user. */
export type ActingAdministrator = Pick<User, 'id' | 'uuid' | 'username'>

/** The caller. */
export type Actor =
  | { kind: 'guest' }
  | { kind: 'system' }
  | { kind: 'node'; node: Node }
  | {
      kind: 'user'
      user: User
      apiKey: { id: number } | null
      session?: { id: string }
      /** The administrator who acts for the user. */
      administrator?: ActingAdministrator
      /** Levels on the Application API; there are none elsewhere. */
      acl?: Acl
    }

/** Keys of secrets: the first one encrypts and signs, all of them decrypt and verify. */
export type KeyRing = readonly { id: string; key: CryptoKey; signingKey: CryptoKey }[]

/** The parameters of scrypt. */
export type PasswordCost = { N: number; r: number; p: number }

/** The configuration that the domain needs. */
export type PanelConfig = {
  /** Origin of the panel without a trailing slash: base of links, `iss` of tokens, `remote` of daemons without a region. */
  url: string
  name: string
  /** Whether mails leave the panel: false where they are stored in the local outbox or refused. */
  sendsMail: boolean
  /** Requests per minute of one user. */
  clientRateLimit: number
  applicationRateLimit: number
  /** IANA time zone of schedules that name none. */
  timezone: string
  /** Milliseconds for which a request may wait while a daemon works, as on archives. */
  maxWaitMs: number
  /** Bytes of one answer where the platform does not stream; unlimited when left out. */
  maxResponseBytes?: number
  /** Bearer token of `/metrics`, which answers 404 without one. */
  metricsToken?: string | null
  /** Milliseconds that creating a server waits for its node; 3,000 when left out. */
  creationWaitMs?: number
  /** Milliseconds for a call to a daemon; the adapter's default when left out. */
  daemonTimeoutMs?: number
  /** Calls to daemons that one request has in progress at most; 32 when left out. */
  maxDaemonCalls?: number
  /** The code of the first set-up, where the operator chose it; else one is generated and printed. */
  setupCode?: string | null
  /** The cost of a password's hash; the product's own when left out. */
  passwordCost?: PasswordCost
}

/** A job and the time at which it is due. */
export type WakeableJob = { id: string; runAt: Date }

/** The columns of a node that are needed to call its daemon. */
export type DaemonAddress = Pick<Node, 'uuid' | 'scheme' | 'fqdn' | 'daemonListen' | 'daemonToken'>

/**
 * The part of a panel that is available inside a transaction: the database and values, but no external service. A call
 * to a daemon, the cache, the queue or the object store would hold the connection meanwhile.
 */
export type Tx = {
  readonly actor: Actor
  /** Address of the caller: IPv4, or IPv6 in its canonical form. */
  readonly ip: string
  readonly requestId: string
  /** The versions of which one the caller expects of what is changed; any version when left out. */
  readonly expectedVersions?: readonly string[] | undefined
  readonly config: PanelConfig
  readonly keys: KeyRing
  readonly now: () => Date
  readonly db: Database
  /** Runs work in one transaction. Use `inTransaction`, whose work gets a `Tx`. */
  readonly transaction: <T>(work: (db: Database) => Promise<T>) => Promise<T>
  readonly metrics: Metrics
  /** Sends a message to the queue for each job; inside a transaction, after its commit. */
  readonly wake: (jobs: readonly WakeableJob[]) => void
}

/**
 * Everything that a request may use.
 *
 * Domain functions take it as their first parameter and use nothing else of the world outside: no globals, no
 * environment, no clock. Platforms open one per request, tests open one over real services.
 */
export type Panel = Tx & {
  /** Returns the client of a node's daemon. */
  readonly daemon: (node: DaemonAddress) => Daemon
  /** Whether a node's daemon did not answer this process lately. */
  readonly isNodeSilent: (node: Pick<Node, 'uuid'>) => boolean
  /** Returns the client of a database host. */
  readonly mysqlHost: (address: MysqlAddress) => MysqlHost
  /** Looks at the network of a node; null on platforms without sockets of Node. */
  readonly probeNode: NodeProbe | null
  /**
   * Creates a demo in an empty database, and returns the name of its administrator; null where there are users. Left out
   * where a demo would not be safe.
   */
  readonly startDemo?: () => Promise<string | null>
  /** Writes the metrics of the whole panel, with gauges; left out where `/metrics` has those of one process alone. */
  readonly readMetrics?: () => Promise<string>
  /**
   * Copies the embedded database of this process, and its object store, into a new folder, and returns its path. Left out
   * where the database is a server.
   */
  readonly snapshot?: (contents: { objects: boolean }) => Promise<string>
  /** Moves another panel in; left out where there is no disk for its dump. */
  readonly moveIn?: MoveIn<Panel>
  readonly cache: Cache
  /** In-flight calls that other requests of this process may join; null on platforms where requests cannot share them. */
  readonly inFlight: Map<string, unknown> | null
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly mail: Mailer
  /** Queries a game server for its players. It takes some seconds, so only jobs use it. */
  readonly gameQuery: GameQuery
  readonly pastes: PasteService
  /** Fetches a text from an address of the public internet that an administrator entered. */
  readonly publicFetch: PublicFetch
  /** Sign-in providers. */
  readonly oauth: OauthGateway
  readonly captcha: CaptchaVerifier
  /** Texts of the web application. */
  readonly locales: LocaleFiles
  /** Lets work finish after the response was sent. */
  readonly defer: (work: Promise<unknown>) => void
}

/**
 * Runs `work` in one transaction. Nested calls join the outermost transaction. Jobs that the work enqueues are sent to
 * the queue after the commit.
 */
export async function inTransaction<T>(panel: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { actor, ip, requestId, expectedVersions, config, keys, now, metrics } = panel
  const jobsToWake: WakeableJob[] = []
  const result = await panel.transaction((db) =>
    work({
      actor,
      ip,
      requestId,
      expectedVersions,
      config,
      keys,
      now,
      metrics,
      db,
      transaction: (nested) => nested(db),
      wake: (jobs) => void jobsToWake.push(...jobs),
    }),
  )
  if (jobsToWake.length > 0) panel.wake(jobsToWake)
  return result
}
