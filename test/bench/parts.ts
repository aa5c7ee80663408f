import { importKeyRing } from '../../src/domain/secrets.ts'
import { openMetrics } from '../../src/metrics.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import type { Parts } from '../../src/platform/parts.ts'
import { framesTransaction } from '../../src/platform/statement-count.ts'
import { textFiles } from '../../src/platform/text-files.ts'
import { openPostgres } from '../../src/platform/postgres.ts'

export const benchOrigin = 'http://panel.test'

const refused = async (): Promise<never> => {
  throw new Error('The benchmark has no such part.')
}
const noHosts = (): never => {
  throw new Error('The benchmark has no database hosts.')
}

/** Parts over a real database, with a cache in memory and nothing else. */
export async function openBenchParts(url: string, onStatement: () => void): Promise<Parts> {
  const database = openPostgres(url, 8, (text) => {
    if (!framesTransaction(text)) onStatement()
  })
  return {
    config: {
      url: benchOrigin,
      name: 'Roost',
      clientRateLimit: 1_000_000_000,
      applicationRateLimit: 1_000_000_000,
      timezone: 'UTC',
      longestWait: 5_000,
    },
    keys: await importKeyRing(`bench:${Buffer.alloc(32, 7).toString('base64')}`),
    db: database.db,
    transaction: database.transaction,
    cache: localCache(),
    flights: new Map(),
    circuits: new Map(),
    texts: textFiles,
    queue: {
      send: async () => undefined,
      scheduleTick: async () => undefined,
      signedBy: async () => null,
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
    gameQuery: refused,
    metrics: openMetrics(),
    oauth: { authorizationUrl: refused, identify: refused },
    captcha: { isSolved: refused },
    now: () => new Date(),
    close: database.close,
  }
}
