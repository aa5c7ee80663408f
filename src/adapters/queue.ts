import { Client } from '@upstash/qstash'
import { isSignedByQueue, type SigningKeys } from './queue-signature.ts'

/** Wakes the jobs function. A message carries an id and nothing else; it may come twice, late, or never. */
export type Queue = {
  /** Asks for `POST /jobs/run` with this job's id, not before `delay` seconds. */
  send: (job: { id: string; delay: number; deduplicationId: string }) => Promise<void>
  /** Whether the queue signed this message, sent to a path below `/jobs`. */
  isSigned: (message: { signature: string; body: string; path: string; now: Date }) => Promise<boolean>
  /** Throws when the queue cannot be reached. */
  ping: () => Promise<void>
}

export type QueueOptions = {
  token: string
  /** Null is QStash itself. */
  baseUrl: string | null
  /** Public origin of the jobs function. */
  origin: string
  signingKeys: SigningKeys
}

/** The queue over QStash. */
export function qstashQueue(options: QueueOptions): Queue {
  const client = new Client({
    token: options.token,
    ...(options.baseUrl ? { baseUrl: options.baseUrl } : {}),
    devMode: false,
    enableTelemetry: false,
  })
  const url = `${options.origin}/jobs/run`
  return {
    send: async ({ id, delay, deduplicationId }) => {
      await client.publishJSON({ url, body: { job: id }, delay, deduplicationId, retries: 3 })
    },
    isSigned: ({ path, ...message }) =>
      isSignedByQueue(options.signingKeys, { ...message, url: `${options.origin}${path}` }),
    ping: async () => void (await client.schedules.list()),
  }
}
