import type { SignedMessage, SigningKeyName, SigningKeys } from './queue-signature.ts'

/** A message that calls `POST /jobs/run` with the id of a job, after `delaySeconds`. */
export type QueueMessage = {
  id: string
  delaySeconds: number
  deduplicationId: string
  /** The trace of the request, passed on with the message; null or left out without one. */
  traceparent?: string | null
  tracestate?: string | null
}

/** Calls the jobs function. A message has only the id of a job, and may arrive twice, late, or never. */
export type Queue = {
  /** Sends messages, up to a hundred per request. When it throws, some may have been sent. */
  send: (messages: readonly QueueMessage[]) => Promise<void>
  /** Schedules `POST /jobs/tick` every minute; idempotent. */
  scheduleTick: () => Promise<void>
  /** Finds the key with which the queue signed a message to a path below `/jobs`; null when it did not. */
  verifySignature: (message: {
    signature: string
    body: string
    path: string
    now: Date
  }) => Promise<SigningKeyName | null>
  /** Throws when the queue cannot be reached. */
  ping: () => Promise<void>
}

/** `findSigningKey` of `queue-signature.ts`, in functions that receive messages. */
export type VerifySignature = (keys: SigningKeys, message: SignedMessage) => Promise<SigningKeyName | null>

export type QueueOptions = {
  token: string
  /** Null is QStash itself. */
  baseUrl: string | null
  /** Public origin of the jobs function. */
  origin: string
  signingKeys: SigningKeys
  verifySignature: VerifySignature
}

/** Messages of one request. */
const maxBatchSize = 100
/** The id of the schedule, which makes `scheduleTick` idempotent. */
const tickScheduleId = 'roost-tick'
/** Milliseconds for a request to the queue; the tick finds jobs whose message was not sent. */
const timeoutMs = 5_000
const qstashUrl = 'https://qstash.upstash.io'
/** Characters of an error that are kept. */
const maxErrorLength = 200

/** Milliseconds until a request whose connection failed is sent again. */
const retryDelayMs = 200

/** Creates a queue over QStash. Throws when a request is refused or not answered. */
export function qstashQueue(options: QueueOptions): Queue {
  const url = `${options.origin}/jobs/run`
  return {
    send: async (messages) => {
      const [first, ...others] = messages
      if (first && others.length === 0) {
        const headers = headersOf(first)
        return request(options, 'POST', `/v2/publish/${url}`, { headers, body: bodyOf(first) })
      }
      for (let start = 0; start < messages.length; start += maxBatchSize) {
        const batch = messages
          .slice(start, start + maxBatchSize)
          .map((message) => ({ destination: url, headers: headersOf(message), body: bodyOf(message) }))
        await request(options, 'POST', '/v2/batch', { headers: jsonHeaders, body: JSON.stringify(batch) })
      }
    },
    scheduleTick: () => {
      // No retries: the next message comes within a minute.
      const headers = {
        ...jsonHeaders,
        'upstash-cron': '* * * * *',
        'upstash-schedule-id': tickScheduleId,
        'upstash-retries': '0',
      }
      return request(options, 'POST', `/v2/schedules/${options.origin}/jobs/tick`, { headers })
    },
    verifySignature: ({ path, ...message }) =>
      options.verifySignature(options.signingKeys, { ...message, url: `${options.origin}${path}` }),
    ping: () => request(options, 'GET', '/v2/schedules'),
  }
}

const jsonHeaders = { 'content-type': 'application/json' }
const bodyOf = ({ id }: QueueMessage) => JSON.stringify({ job: id })

const headersOf = ({ delaySeconds, deduplicationId, traceparent, tracestate }: QueueMessage) => ({
  ...jsonHeaders,
  'upstash-method': 'POST',
  'upstash-delay': `${delaySeconds}s`,
  'upstash-deduplication-id': deduplicationId,
  'upstash-retries': '3',
  ...(traceparent ? { 'upstash-forward-traceparent': traceparent } : {}),
  ...(tracestate ? { 'upstash-forward-tracestate': tracestate } : {}),
})

/** Sends a request, and once more when the connection fails. The client of the SDK does the same, but writes to the log. */
async function request(
  { baseUrl, token }: QueueOptions,
  method: string,
  path: string,
  { headers = {}, body = null }: { headers?: Record<string, string>; body?: string | null } = {},
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs)
  const init = { method, headers: { ...headers, authorization: `Bearer ${token}` }, body, signal }
  const sendRequest = () => fetch(`${(baseUrl ?? qstashUrl).replace(/\/$/, '')}${path}`, init)
  try {
    const response = await sendRequest().catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs))
      return sendRequest()
    })
    const responseText = await response.text()
    if (!response.ok)
      throw new Error(`The queue answered ${response.status}: ${responseText.slice(0, maxErrorLength)}`)
  } catch (error) {
    if (signal.aborted) throw new Error('The queue did not answer.')
    throw error
  }
}
