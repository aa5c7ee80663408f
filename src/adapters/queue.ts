import { Client } from '@upstash/qstash'

/** Wakes the jobs function. A message carries an id and nothing else; it may come twice, late, or never. */
export type Queue = {
  /** Asks for `POST /jobs/run` with this job's id, not before `delay` seconds. */
  send: (job: { id: string; delay: number; deduplicationId: string }) => Promise<void>
  /** Throws when the queue cannot be reached. */
  ping: () => Promise<void>
}

/** The queue over QStash; `endpoint` is the public address of `/jobs/run`. */
export function qstashQueue(options: { token: string; baseUrl: string | null; endpoint: string }): Queue {
  const client = new Client({
    token: options.token,
    ...(options.baseUrl ? { baseUrl: options.baseUrl } : {}),
    enableTelemetry: false,
  })
  return {
    send: async ({ id, delay, deduplicationId }) => {
      await client.publishJSON({
        url: options.endpoint,
        body: { job: id },
        delay,
        deduplicationId,
        retries: 3,
      })
    },
    ping: async () => void (await client.schedules.list()),
  }
}
