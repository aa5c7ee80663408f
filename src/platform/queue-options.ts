import type { QueueOptions, VerifySignature } from '../adapters/queue.ts'
import { type Env, required } from './env.ts'

/**
 * Returns the options of the queue over QStash; `url` is the origin of the panel. Throws an `EnvironmentError` when its
 * token or a key is unset.
 */
export const queueOptionsOf = (env: Env, url: string, verifySignature: VerifySignature): QueueOptions => ({
  token: required(env, 'QSTASH_TOKEN'),
  baseUrl: env.QSTASH_URL ?? null,
  origin: env.JOBS_URL ?? url,
  signingKeys: {
    current: required(env, 'QSTASH_CURRENT_SIGNING_KEY'),
    next: required(env, 'QSTASH_NEXT_SIGNING_KEY'),
  },
  verifySignature,
})
