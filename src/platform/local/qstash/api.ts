import type { SigningKeys } from '../../../adapters/queue-signature.ts'
import type { DeadLetter } from './delivery.ts'
import { type Message, type MessageHeaders, readMessage, Refusal } from './message.ts'
import type { Schedule, Schedules } from './schedules.ts'

export type Request = { method: string; path: string; headers: MessageHeaders; body: Uint8Array }
export type Answer = { status: number; body: unknown }

/** What the queue remembers. */
export type State = {
  /** Milliseconds. */
  clock: () => number
  accept: (message: Message) => void
  /** The message of each deduplication id. */
  known: Map<string, string>
  schedules: Schedules
  deadLetters: DeadLetter[]
  keys: SigningKeys
  rollKeys: () => void
}

type Handler = (request: Request, state: State, ...parts: string[]) => Answer

/** Messages of one request, and letters of one page. */
const mostInBatch = 100

const ok = (body: unknown, status = 200): Answer => ({ status, body })

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
  ['DELETE', /^\/v2\/dlq(?:\?(.*))?$/, (_, state, query) => removeDeadLetters(state, idsOf(query), false)],
  ['GET', /^\/v2\/keys$/, (_, { keys }) => ok(keys)],
  ['POST', /^\/v2\/keys\/rotate$/, rotateKeys],
]

/** What QStash would answer. Throws a `Refusal`. */
export function answer(request: Request, state: State): Answer {
  for (const [method, path, handler] of routes) {
    const match = method === request.method ? path.exec(request.path) : null
    if (match) return handler(request, state, ...match.slice(1))
  }
  throw new Refusal(404, 'not found')
}

function publish(request: Request, state: State, url = '', queue: string | null = null): Answer {
  const message = readMessage(url, request.headers, request.body, state.clock())
  const published = take(state, { ...message, queue })
  return ok(published, published.deduplicated ? 202 : 201)
}

type Published = { messageId: string; url: string; deduplicated?: true }

function take(state: State, message: Message): Published {
  const { deduplicationId, id, url } = message
  const earlier = deduplicationId === null ? undefined : state.known.get(deduplicationId)
  if (earlier !== undefined) return { messageId: earlier, url, deduplicated: true }
  if (deduplicationId !== null) state.known.set(deduplicationId, id)
  state.accept(message)
  return { messageId: id, url }
}

type BatchEntry = { destination: string; headers?: Record<string, string>; body?: string; queue?: string }

/** All of them, or none. */
function publishBatch({ body }: Request, state: State): Answer {
  const entries = JSON.parse(new TextDecoder().decode(body)) as BatchEntry[]
  if (!Array.isArray(entries)) throw new Refusal(400, 'the body must be a list')
  if (entries.length > mostInBatch) throw new Refusal(400, `a batch may hold ${mostInBatch} messages at most`)
  const messages = entries.map(({ destination, headers = {}, body: content = '', queue = null }) => {
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    const bytes = new TextEncoder().encode(content)
    return { ...readMessage(destination, lower, bytes, state.clock()), queue }
  })
  return ok(
    messages.map((message) => take(state, message)),
    201,
  )
}

function putSchedule({ headers, body }: Request, state: State, destination = ''): Answer {
  const message = readMessage(destination, headers, body, state.clock())
  const scheduleId = headers['upstash-schedule-id'] ?? `scd_${crypto.randomUUID()}`
  state.schedules.put(scheduleId, headers['upstash-cron'] ?? '', message)
  return ok({ scheduleId }, 201)
}

function removeSchedule(_: Request, state: State, id = ''): Answer {
  state.schedules.remove(id)
  return ok({})
}

const presentSchedule = ({ scheduleId, cron, message }: Schedule) => ({
  scheduleId,
  cron,
  destination: message.url,
  method: message.method,
  header: listsOf(message.headers),
  body: new TextDecoder().decode(message.body),
  retries: message.retries,
  delay: message.delay,
  createdAt: message.createdAt,
  isPaused: false,
})

const listsOf = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))

function listDeadLetters(_: Request, { deadLetters }: State, query = ''): Answer {
  const wanted = new URLSearchParams(query)
  const offset = Number(wanted.get('cursor') ?? 0)
  const count = Math.min(Number(wanted.get('count') ?? mostInBatch), mostInBatch)
  const url = wanted.get('url')
  const all = deadLetters.filter(({ message }) => url === null || message.url === url)
  const messages = all.slice(offset, offset + count).map(({ dlqId, message, status, answer: text }) => ({
    dlqId,
    messageId: message.id,
    url: message.url,
    method: message.method,
    header: listsOf(message.headers),
    body: new TextDecoder().decode(message.body),
    maxRetries: message.retries,
    createdAt: message.createdAt,
    responseStatus: status,
    responseBody: text,
  }))
  return ok({ messages, ...(offset + count < all.length ? { cursor: String(offset + count) } : {}) })
}

/** Null is all of them. */
function idsOf(query: string | undefined): string[] | null {
  const ids = new URLSearchParams(query).getAll('dlqIds')
  return ids.length > 0 ? ids : null
}

function takeOut(deadLetters: DeadLetter[], ids: string[] | null): DeadLetter[] {
  const wanted = deadLetters.filter(({ dlqId }) => ids === null || ids.includes(dlqId))
  for (const letter of wanted) deadLetters.splice(deadLetters.indexOf(letter), 1)
  return wanted
}

function removeDeadLetters({ deadLetters }: State, ids: string[] | null, mustExist: boolean): Answer {
  const { length } = takeOut(deadLetters, ids)
  if (mustExist && length === 0) throw new Refusal(404, 'message not found')
  return ok({ deleted: length })
}

function retryDeadLetters(_: Request, state: State, query?: string): Answer {
  const responses = takeOut(state.deadLetters, idsOf(query)).map(({ message }) => {
    const again = { ...message, id: `msg_${crypto.randomUUID()}`, delay: 0 }
    state.accept(again)
    return { messageId: again.id }
  })
  return ok({ responses })
}

function rotateKeys(_: Request, { keys, rollKeys }: State): Answer {
  rollKeys()
  return ok(keys)
}
