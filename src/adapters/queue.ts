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
const home = 'https://qstash.upstash.io'
/** Characters of what a refusal says. */
const longestRefusal = 200

/** Milliseconds until a request that met nobody is sent a second time. */
const pause = 200

/** The queue over QStash. A request that is refused or not answered throws. */
export function qstashQueue(options: QueueOptions): Queue {
  const url = `${options.origin}/jobs/run`
  return {
    send: async (messages) => {
      const [only, ...others] = messages
      if (only && others.length === 0) {
        const headers = headersOf(only)
        return ask(options, 'POST', `/v2/publish/${url}`, { headers, body: bodyOf(only) })
      }
      for (let at = 0; at < messages.length; at += largestBatch) {
        const batch = messages
          .slice(at, at + largestBatch)
          .map((message) => ({ destination: url, headers: headersOf(message), body: bodyOf(message) }))
        await ask(options, 'POST', '/v2/batch', { headers: json, body: JSON.stringify(batch) })
      }
    },
    scheduleTick: () => {
      // A message that finds nobody is not repeated: the next one comes within the minute.
      const headers = {
        ...json,
        'upstash-cron': '* * * * *',
        'upstash-schedule-id': tickId,
        'upstash-retries': '0',
      }
      return ask(options, 'POST', `/v2/schedules/${options.origin}/jobs/tick`, { headers })
    },
    signedBy: ({ path, ...message }) =>
      options.checkSignature(options.signingKeys, { ...message, url: `${options.origin}${path}` }),
    ping: () => ask(options, 'GET', '/v2/schedules'),
  }
}

const json = { 'content-type': 'application/json' }
const bodyOf = ({ id }: QueueMessage) => JSON.stringify({ job: id })

const headersOf = ({ delay, deduplicationId, traceparent }: QueueMessage) => ({
  ...json,
  'upstash-method': 'POST',
  'upstash-delay': `${delay}s`,
  'upstash-deduplication-id': deduplicationId,
  'upstash-retries': '3',
  ...(traceparent ? { 'upstash-forward-traceparent': traceparent } : {}),
})

/** One request, and once more where nobody was met. The SDK's client does the same, but writes into the log. */
async function ask(
  { baseUrl, token }: QueueOptions,
  method: string,
  path: string,
  { headers = {}, body = null }: { headers?: Record<string, string>; body?: string | null } = {},
): Promise<void> {
  const signal = AbortSignal.timeout(patience)
  const init = { method, headers: { ...headers, authorization: `Bearer ${token}` }, body, signal }
  const send = () => fetch(`${(baseUrl ?? home).replace(/\/$/, '')}${path}`, init)
  try {
    const answer = await send().catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, pause))
      return send()
    })
    const said = await answer.text()
    if (!answer.ok) throw new Error(`The queue answered ${answer.status}: ${said.slice(0, longestRefusal)}`)
  } catch (error) {
    if (signal.aborted) throw new Error('The queue does not answer.')
    throw error
  }
}
