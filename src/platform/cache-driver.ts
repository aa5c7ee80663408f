import type { Env } from './env.ts'
import { processCount } from './process-count.ts'

/** Returns where the cache is without Redis: several processes share a table. */
export const cacheDriver = (env: Env): 'memory' | 'database' =>
  env.CACHE_DRIVER ?? (processCount(env) > 1 ? 'database' : 'memory')
