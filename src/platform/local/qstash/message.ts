/** What somebody asked the queue to deliver. */
export type Message = {
  id: string
  url: string
  method: string
  body: Uint8Array
  /** What the destination gets beside the queue's own headers. */
  headers: Record<string, string>
  /** Seconds before the first delivery. */
  delay: number
  /** Deliveries after the first one that fails. */
  retries: number
  deduplicationId: string | null
  /** Messages of one queue are delivered one after the other. */
  queue: string | null
  scheduleId: string | null
  /** Milliseconds. */
  createdAt: number
}

/** The queue says no: the status and the words of its answer. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Names in lower case. */
export type MessageHeaders = Record<string, string | undefined>

const forwarded = 'upstash-forward-'
const defaultRetries = 3
const mostRetries = 5
/** Seconds: what the smallest plan allows. */
const longestDelay = 7 * 86_400
const largestBody = 1024 * 1024
const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** The message that these headers ask for. Throws a `Refusal` for what the queue does not take. */
export function readMessage(
  destination: string,
  headers: MessageHeaders,
  body: Uint8Array,
  now: number,
): Message {
  if (!isDestination(destination)) throw new Refusal(400, `invalid destination url: ${destination}`)
  if (body.byteLength > largestBody) throw new Refusal(413, 'the message is too big')
  const retries = wholeNumber(headers['upstash-retries'], 'Upstash-Retries') ?? defaultRetries
  return {
    id: `msg_${crypto.randomUUID()}`,
    url: destination,
    method: headers['upstash-method'] ?? 'POST',
    body,
    headers: headersToForward(headers),
    delay: delayOf(headers, now),
    retries: Math.min(retries, mostRetries),
    deduplicationId: headers['upstash-deduplication-id'] ?? null,
    queue: null,
    scheduleId: null,
    createdAt: now,
  }
}

const isDestination = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text)

function headersToForward(headers: MessageHeaders): Record<string, string> {
  const kept: Record<string, string> = { 'content-type': headers['content-type'] ?? 'text/plain' }
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(forwarded) && value !== undefined) kept[name.slice(forwarded.length)] = value
  }
  return kept
}

/** `Upstash-Not-Before` wins over `Upstash-Delay`, as there. */
function delayOf(headers: MessageHeaders, now: number): number {
  const notBefore = wholeNumber(headers['upstash-not-before'], 'Upstash-Not-Before')
  const delay =
    notBefore === null ? durationOf(headers['upstash-delay']) : Math.max(0, notBefore - now / 1000)
  if (delay > longestDelay)
    throw new Refusal(400, `the delay is longer than the allowed ${longestDelay} seconds`)
  return delay
}

function durationOf(text: string | undefined): number {
  if (text === undefined) return 0
  if (!/^(\d+[smhd])+$/.test(text)) throw new Refusal(400, `invalid delay: ${text}`)
  const parts = [...text.matchAll(/(\d+)([smhd])/g)]
  return parts.reduce((sum, [, count = '0', unit = 's']) => sum + Number(count) * (units[unit] ?? 0), 0)
}

function wholeNumber(text: string | undefined, name: string): number | null {
  if (text === undefined) return null
  if (!/^\d{1,12}$/.test(text)) throw new Refusal(400, `invalid ${name}: ${text}`)
  return Number(text)
}
