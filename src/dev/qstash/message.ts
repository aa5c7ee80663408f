/** A request that the queue delivers to a destination. */
export type Message = {
  id: string
  url: string
  method: string
  body: Uint8Array
  /** Headers for the destination, without those the queue adds. */
  headers: Record<string, string>
  /** Seconds before the first delivery. */
  delay: number
  /** Further deliveries after the first one has failed. */
  retries: number
  deduplicationId: string | null
  /** The queue whose messages are delivered one after the other; null without one. */
  queue: string | null
  scheduleId: string | null
  /** Milliseconds by the clock of the queue. */
  createdAt: number
}

/** A request that the queue refuses, with the status of its response. */
export class QstashError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Headers of a request by their names in lower case. */
export type MessageHeaders = Record<string, string | undefined>

const forwardPrefix = 'upstash-forward-'
const defaultRetries = 3
const maxRetries = 5
/** The limit of QStash's smallest plan. */
const maxDelaySeconds = 7 * 86_400
const maxBodyBytes = 1024 * 1024
const secondsByUnit: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Reads the message that a request publishes. Throws a `QstashError` for one that QStash refuses. */
export function readMessage(
  destination: string,
  headers: MessageHeaders,
  body: Uint8Array,
  now: number,
): Message {
  if (!isDestination(destination)) throw new QstashError(400, `invalid destination url: ${destination}`)
  if (body.byteLength > maxBodyBytes) throw new QstashError(413, 'the message is too big')
  const retries = readInteger(headers['upstash-retries'], 'Upstash-Retries') ?? defaultRetries
  return {
    id: `msg_${crypto.randomUUID()}`,
    url: destination,
    method: headers['upstash-method'] ?? 'POST',
    body,
    headers: readForwardedHeaders(headers),
    delay: readDelay(headers, now),
    retries: Math.min(retries, maxRetries),
    deduplicationId: headers['upstash-deduplication-id'] ?? null,
    queue: null,
    scheduleId: null,
    createdAt: now,
  }
}

const isDestination = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text)

function readForwardedHeaders(headers: MessageHeaders): Record<string, string> {
  const kept: Record<string, string> = { 'content-type': headers['content-type'] ?? 'text/plain' }
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(forwardPrefix) && value !== undefined) kept[name.slice(forwardPrefix.length)] = value
  }
  return kept
}

/** Reads the delay in seconds; `Upstash-Not-Before` overrides `Upstash-Delay`. */
function readDelay(headers: MessageHeaders, now: number): number {
  const notBefore = readInteger(headers['upstash-not-before'], 'Upstash-Not-Before')
  const delay =
    notBefore === null ? parseDuration(headers['upstash-delay']) : Math.max(0, notBefore - now / 1000)
  if (delay > maxDelaySeconds)
    throw new QstashError(400, `the delay is longer than the allowed ${maxDelaySeconds} seconds`)
  return delay
}

function parseDuration(text: string | undefined): number {
  if (text === undefined) return 0
  if (!/^(\d+[smhd])+$/.test(text)) throw new QstashError(400, `invalid delay: ${text}`)
  const parts = [...text.matchAll(/(\d+)([smhd])/g)]
  return parts.reduce(
    (sum, [, count = '0', unit = 's']) => sum + Number(count) * (secondsByUnit[unit] ?? 0),
    0,
  )
}

function readInteger(text: string | undefined, name: string): number | null {
  if (text === undefined) return null
  if (!/^\d{1,12}$/.test(text)) throw new QstashError(400, `invalid ${name}: ${text}`)
  return Number(text)
}
