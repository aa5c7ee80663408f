import type { DeadLetter } from './delivery.ts'
import { type Message, type MessageHeaders, QstashError, readMessage } from './message.ts'
import type { Schedule, Schedules } from './schedules.ts'
import type { SigningKeys } from './signature.ts'

export type ApiRequest = { method: string; path: string; headers: MessageHeaders; body: Uint8Array }
export type ApiResponse = { status: number; body: unknown }

/** Everything the queue keeps while it runs. */
export type State = {
  /** Milliseconds by the clock of the queue. */
  clock: () => number
  accept: (message: Message) => void
  /** The id of the message that was published with each deduplication id. */
  messageIds: Map<string, string>
  schedules: Schedules
  deadLetters: DeadLetter[]
  keys: SigningKeys
  rollKeys: () => void
}

type Handler = (request: ApiRequest, state: State, ...parts: string[]) => ApiResponse

const maxBatchSize = 100
const maxPageSize = 100

const ok = (body: unknown, status = 200): ApiResponse => ({ status, body })

const routes: [method: string, path: RegExp, handler: Handler][] = [
  ['POST', /^\/v2\/publish\/(.+)$/, (request, state, url) => publish(request, state, url)],
  [
    'POST',
    /^\/v2\/enqueue\/([^/]+)\/(.+)$/,
    (request, state, queue, url) => publish(request, state, url, queue),
  ],
  ['POST', /^\/v2\/batch$/, publishBatch],
  ['POST', /^\/v2\/schedules\/(.+)$/, putSchedule],
  ['GET', /^\/v2\/schedules$/, (_, { schedules }) => ok(schedules.list().map(presentSchedule))],
  ['GET', /^\/v2\/schedules\/([^/]+)$/, (_, state, id = '') => ok(presentSchedule(state.schedules.find(id)))],
  ['DELETE', /^\/v2\/schedules\/([^/]+)$/, removeSchedule],
  ['GET', /^\/v2\/dlq(?:\?(.*))?$/, listDeadLetters],
  ['POST', /^\/v2\/dlq\/retry(?:\?(.*))?$/, retryDeadLetters],
  ['DELETE', /^\/v2\/dlq\/([^/?]+)$/, (_, state, id = '') => removeDeadLetters(state, [id], true)],
  ['DELETE', /^\/v2\/dlq(?:\?(.*))?$/, (_, state, query) => removeDeadLetters(state, readIds(query), false)],
  ['GET', /^\/v2\/keys$/, (_, { keys }) => ok(keys)],
  ['POST', /^\/v2\/keys\/rotate$/, rotateKeys],
]

/** Answers a request as QStash's API does. Throws a `QstashError`. */
export function handleRequest(request: ApiRequest, state: State): ApiResponse {
  for (const [method, path, handler] of routes) {
    const match = method === request.method ? path.exec(request.path) : null
    if (match) return handler(request, state, ...match.slice(1))
  }
  throw new QstashError(404, 'not found')
}

function publish(request: ApiRequest, state: State, url = '', queue: string | null = null): ApiResponse {
  const message = readMessage(url, request.headers, request.body, state.clock())
  const published = publishMessage(state, { ...message, queue })
  return ok(published, published.deduplicated ? 202 : 201)
}

type Published = { messageId: string; url: string; deduplicated?: true }

function publishMessage(state: State, message: Message): Published {
  const { deduplicationId, id, url } = message
  const earlier = deduplicationId === null ? undefined : state.messageIds.get(deduplicationId)
  if (earlier !== undefined) return { messageId: earlier, url, deduplicated: true }
  if (deduplicationId !== null) state.messageIds.set(deduplicationId, id)
  state.accept(message)
  return { messageId: id, url }
}

type BatchEntry = { destination: string; headers?: Record<string, string>; body?: string; queue?: string }

/** Publishes all messages of a batch, or none when one of them is refused. */
function publishBatch({ body }: ApiRequest, state: State): ApiResponse {
  const entries = JSON.parse(new TextDecoder().decode(body)) as BatchEntry[]
  if (!Array.isArray(entries)) throw new QstashError(400, 'the body must be a list')
  if (entries.length > maxBatchSize)
    throw new QstashError(400, `a batch may hold ${maxBatchSize} messages at most`)
  const messages = entries.map(({ destination, headers = {}, body: content = '', queue = null }) => {
    const lowerCased = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    const bytes = new TextEncoder().encode(content)
    return { ...readMessage(destination, lowerCased, bytes, state.clock()), queue }
  })
  return ok(
    messages.map((message) => publishMessage(state, message)),
    201,
  )
}

function putSchedule({ headers, body }: ApiRequest, state: State, destination = ''): ApiResponse {
  const message = readMessage(destination, headers, body, state.clock())
  const scheduleId = headers['upstash-schedule-id'] ?? `scd_${crypto.randomUUID()}`
  state.schedules.put(scheduleId, headers['upstash-cron'] ?? '', message)
  return ok({ scheduleId }, 201)
}

function removeSchedule(_: ApiRequest, state: State, id = ''): ApiResponse {
  state.schedules.remove(id)
  return ok({})
}

const presentSchedule = ({ scheduleId, cron, message }: Schedule) => ({
  scheduleId,
  cron,
  destination: message.url,
  method: message.method,
  header: toLists(message.headers),
  body: new TextDecoder().decode(message.body),
  retries: message.retries,
  delay: message.delay,
  createdAt: message.createdAt,
  isPaused: false,
})

const toLists = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))

function listDeadLetters(_: ApiRequest, { deadLetters }: State, query = ''): ApiResponse {
  const params = new URLSearchParams(query)
  const offset = Number(params.get('cursor') ?? 0)
  const count = Math.min(Number(params.get('count') ?? maxPageSize), maxPageSize)
  const url = params.get('url')
  const matching = deadLetters.filter(({ message }) => url === null || message.url === url)
  const messages = matching.slice(offset, offset + count).map(({ dlqId, message, status, body }) => ({
    dlqId,
    messageId: message.id,
    url: message.url,
    method: message.method,
    header: toLists(message.headers),
    body: new TextDecoder().decode(message.body),
    maxRetries: message.retries,
    createdAt: message.createdAt,
    responseStatus: status,
    responseBody: body,
  }))
  return ok({ messages, ...(offset + count < matching.length ? { cursor: String(offset + count) } : {}) })
}

/** Reads the ids that a query names; null means all of them. */
function readIds(query: string | undefined): string[] | null {
  const ids = new URLSearchParams(query).getAll('dlqIds')
  return ids.length > 0 ? ids : null
}

function takeDeadLetters(deadLetters: DeadLetter[], ids: string[] | null): DeadLetter[] {
  const taken = deadLetters.filter(({ dlqId }) => ids === null || ids.includes(dlqId))
  for (const letter of taken) deadLetters.splice(deadLetters.indexOf(letter), 1)
  return taken
}

function removeDeadLetters({ deadLetters }: State, ids: string[] | null, mustExist: boolean): ApiResponse {
  const { length } = takeDeadLetters(deadLetters, ids)
  if (mustExist && length === 0) throw new QstashError(404, 'message not found')
  return ok({ deleted: length })
}

function retryDeadLetters(_: ApiRequest, state: State, query?: string): ApiResponse {
  const responses = takeDeadLetters(state.deadLetters, readIds(query)).map(({ message }) => {
    const repeated = { ...message, id: `msg_${crypto.randomUUID()}`, delay: 0 }
    state.accept(repeated)
    return { messageId: repeated.id }
  })
  return ok({ responses })
}

function rotateKeys(_: ApiRequest, { keys, rollKeys }: State): ApiResponse {
  rollKeys()
  return ok(keys)
}
