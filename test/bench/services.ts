import { egressRule } from '../../src/adapters/egress.ts'
import { importKeyRing } from '../../src/domain/secrets.ts'
import { createMetrics } from '../../src/metrics.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import type { Services } from '../../src/platform/open-panel.ts'
import { isTransactionControl } from '../../src/platform/statement-stats.ts'
import { localeFiles } from '../../src/platform/locale-files.ts'
import { nodeDaemonFetch } from '../../src/platform/node-daemon-fetch.ts'
import { openPostgres } from '../../src/platform/postgres.ts'

export const benchOrigin = 'http://panel.test'

const refused = async (): Promise<never> => {
  throw new Error('The benchmark has no such service.')
}
const noHosts = (): never => {
  throw new Error('The benchmark has no database hosts.')
}

/** Opens services over a real database, with a cache in memory and nothing else. */
export async function openBenchServices(url: string, onStatement: () => void): Promise<Services> {
  const database = openPostgres(url, 8, (text) => {
    if (!isTransactionControl(text)) onStatement()
  })
  return {
    config: {
      url: benchOrigin,
      sendsMail: false,
      name: 'Roost',
      clientRateLimit: 1_000_000_000,
      applicationRateLimit: 1_000_000_000,
      timezone: 'UTC',
      maxWaitMs: 5_000,
    },
    keys: await importKeyRing(`bench:${Buffer.alloc(32, 7).toString('base64')}`),
    db: database.db,
    transaction: database.transaction,
    cache: localCache(),
    inFlight: new Map(),
    circuitBreakers: new Map(),
    daemonFetch: nodeDaemonFetch(egressRule(['0.0.0.0/0', '::/0'])),
    locales: localeFiles,
    publicFetch: refused,
    queue: {
      send: async () => undefined,
      scheduleTick: async () => undefined,
      verifySignature: async () => null,
      ping: async () => undefined,
    },
    objects: {
      put: refused,
      get: refused,
      signedUrl: refused,
      remove: refused,
      ping: async () => undefined,
    },
    mail: { send: refused },
    pastes: { upload: refused },
    mysqlHost: noHosts,
    probeNode: null,
    gameQuery: refused,
    metrics: createMetrics(),
    oauth: { authorizationUrl: refused, identify: refused },
    captcha: { isSolved: refused },
    now: () => new Date(),
    close: database.close,
  }
}
