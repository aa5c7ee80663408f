import { Client } from '@upstash/qstash'
import type { SignedMessage, SigningKeyName, SigningKeys } from './queue-signature.ts'

/** Asks for `POST /jobs/run` with a job's id, not before `delay` seconds. */
export type QueueMessage = {
  id: string
  delay: number
  deduplicationId: string
  /** The trace in which it is sent, which comes along with it; null or left out without one. */
  traceparent?: string | null
}

/** Wakes the jobs function. A message carries an id and nothing else; it may come twice, late, or never. */
export type Queue = {
  /** Takes all of them, up to a hundred with one request; some may have been taken when it throws. */
  send: (messages: readonly QueueMessage[]) => Promise<void>
  /** `POST /jobs/tick` comes every minute from now on; asking again changes nothing. */
  scheduleTick: () => Promise<void>
  /** The key by which the queue signed this message, sent to a path below `/jobs`; null when it did not. */
  signedBy: (message: {
    signature: string
    body: string
    path: string
    now: Date
  }) => Promise<SigningKeyName | null>
  /** Throws when the queue cannot be reached. */
  ping: () => Promise<void>
}

/** `signingKeyOf` of `queue-signature.ts`, where messages are taken; what it is made of weighs more than sending them. */
export type CheckSignature = (keys: SigningKeys, message: SignedMessage) => Promise<SigningKeyName | null>

export type QueueOptions = {
  token: string
  /** Null is QStash itself. */
  baseUrl: string | null
  /** Public origin of the jobs function. */
  origin: string
  signingKeys: SigningKeys
  checkSignature: CheckSignature
}

/** Messages of one request. */
const largestBatch = 100
/** One schedule, however often it is asked for. */
const tickId = 'roost-tick'
/** Milliseconds after which a request to the queue is given up: what nobody was told, the tick finds. */
const patience = 5_000

/** The queue over QStash. */
export function qstashQueue(options: QueueOptions): Queue {
  const client = new Client({
    token: options.token,
    ...(options.baseUrl ? { baseUrl: options.baseUrl } : {}),
    devMode: false,
    enableTelemetry: false,
    retry: { retries: 1, backoff: () => 200 },
  })
  const url = `${options.origin}/jobs/run`
  return {
    send: async (messages) => {
      const requests = messages.map(({ id, delay, deduplicationId, traceparent }) => ({
        url,
        body: { job: id },
        delay,
        deduplicationId,
        retries: 3,
        ...(traceparent ? { headers: { traceparent } } : {}),
      }))
      const [only, ...others] = requests
      if (only && others.length === 0) return void (await inTime(client.publishJSON(only)))
      for (let at = 0; at < requests.length; at += largestBatch) {
        await inTime(client.batchJSON(requests.slice(at, at + largestBatch)))
      }
    },
    scheduleTick: async () => {
      const destination = `${options.origin}/jobs/tick`
      // A message that finds nobody is not repeated: the next one comes within the minute.
      const schedule = { scheduleId: tickId, destination, cron: '* * * * *', retries: 0 }
      await inTime(client.schedules.create(schedule))
    },
    signedBy: ({ path, ...message }) =>
      options.checkSignature(options.signingKeys, { ...message, url: `${options.origin}${path}` }),
    ping: async () => void (await inTime(client.schedules.list())),
  }
}

/** The result, or a failure when it does not come in time; the SDK itself waits for ever. */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('The queue does not answer.')), patience)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
