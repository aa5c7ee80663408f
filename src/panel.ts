import type { Cache } from './adapters/cache.ts'
import type { CaptchaVerifier } from './adapters/captcha.ts'
import type { Daemon } from './adapters/daemon.ts'
import type { GameQuery } from './adapters/game-query.ts'
import type { Mailer } from './adapters/mail.ts'
import type { MysqlAddress, MysqlHost } from './adapters/mysql-host.ts'
import type { OauthGateway } from './adapters/oauth.ts'
import type { ObjectStore } from './adapters/objects.ts'
import type { PasteService } from './adapters/paste.ts'
import type { Queue } from './adapters/queue.ts'
import type { TextFiles } from './adapters/texts.ts'
import type { Database } from './db/database.ts'
import type { Acl } from './db/tables/api-keys.ts'
import type { Node } from './db/tables/nodes.ts'
import type { User } from './db/tables/users.ts'
import type { Metrics } from './metrics.ts'

/** Who asks. */
export type Actor =
  | { kind: 'guest' }
  | { kind: 'system' }
  | { kind: 'node'; node: Node }
  | { kind: 'user'; user: User; apiKey: { id: number; acl: Acl } | null; session?: { id: string } }

/** Keys by which stored secrets are sealed; the first one seals, all of them open. */
export type KeyRing = readonly { id: string; key: CryptoKey }[]

/** What the operator configured and the rules need to know. */
export type PanelConfig = {
  /** Origin of the panel without a trailing slash: base of links, `iss` of tokens, `remote` of daemons without a region. */
  url: string
  name: string
  /** Requests a minute for one user. */
  clientRateLimit: number
  applicationRateLimit: number
  /** IANA zone for what has none of its own. */
  timezone: string
  /** Milliseconds for which a request may wait for a daemon that works meanwhile, as on archives. */
  longestWait: number
  /** Whoever knows it may read what this process counted; nobody may when it is left out. */
  metricsToken?: string | null
  /** Milliseconds after which a call to a daemon is given up; the daemon adapter's own when left out. */
  daemonTimeout?: number
}

/** A job as its row says when it is due. */
export type WakeableJob = { id: string; runAt: Date }

/** Enough of a node to call its daemon. */
export type DaemonAddress = Pick<Node, 'uuid' | 'scheme' | 'fqdn' | 'daemonListen' | 'daemonToken'>

/**
 * Everything one request may touch.
 *
 * A domain function takes the panel first and reaches the world through nothing else: no globals,
 * no environment, no clock. Platforms open one per request; tests open one over real parts.
 */
export type Panel = {
  readonly actor: Actor
  /** Address of the caller: IPv4, or IPv6 in its canonical form. */
  readonly ip: string
  readonly requestId: string
  readonly config: PanelConfig
  readonly keys: KeyRing
  readonly now: () => Date
  readonly db: Database
  /** Runs work in one transaction; use `inTransaction`, which guards it. */
  readonly transaction: <T>(work: (db: Database) => Promise<T>) => Promise<T>
  /** The daemon of one node. */
  readonly daemon: (node: DaemonAddress) => Daemon
  /** A server on which databases of game servers stand. */
  readonly mysqlHost: (address: MysqlAddress) => MysqlHost
  readonly cache: Cache
  /** Calls under way which further requests of this process may join; null where requests cannot share them. */
  readonly flights: Map<string, unknown> | null
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly mail: Mailer
  /** Asks games who plays; takes some seconds, so it is for jobs. */
  readonly gameQuery: GameQuery
  readonly pastes: PasteService
  /** Providers at which people have an account. */
  readonly oauth: OauthGateway
  readonly captcha: CaptchaVerifier
  /** The application's texts. */
  readonly texts: TextFiles
  /** Counts what operators watch. */
  readonly metrics: Metrics
  /** Lets work finish after the answer has left. */
  readonly defer: (work: Promise<unknown>) => void
  /** Wakes the workers of jobs; inside a transaction, once it is committed. */
  readonly wake: (jobs: readonly WakeableJob[]) => void
}

/**
 * Runs `work` with a panel whose database is one transaction: all of it is kept, or none.
 *
 * Nest freely; the outermost decides. The panel inside has no outsiders: a call to a daemon, the
 * cache, the queue or the object store would hold the connection, so it throws.
 */
export async function inTransaction<T>(panel: Panel, work: (panel: Panel) => Promise<T>): Promise<T> {
  const woken: WakeableJob[] = []
  const result = await panel.transaction((db) =>
    work({
      ...panel,
      db,
      transaction: (nested) => nested(db),
      wake: (jobs) => void woken.push(...jobs),
      daemon: refuseOutsider,
      mysqlHost: refuseOutsider,
      cache: outsiderOutOfReach,
      queue: outsiderOutOfReach,
      objects: outsiderOutOfReach,
      mail: outsiderOutOfReach,
      gameQuery: refuseOutsider,
      pastes: outsiderOutOfReach,
      oauth: outsiderOutOfReach,
      captcha: outsiderOutOfReach,
      texts: outsiderOutOfReach,
    }),
  )
  if (woken.length > 0) panel.wake(woken)
  return result
}

function refuseOutsider(): never {
  throw new Error('An outsider is out of reach inside a transaction.')
}

const outsiderOutOfReach = new Proxy({} as never, { get: refuseOutsider })
