import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type ApiRequest, type ApiResponse, handleRequest, type State } from './api.ts'
import { type DeadLetter, openDelivery } from './delivery.ts'
import { type Faults, noFaults } from './faults.ts'
import { type Message, QstashError } from './message.ts'
import { openSchedules, type Schedule } from './schedules.ts'
import type { SigningKeys } from './signature.ts'

export type QstashOptions = {
  port?: number
  token?: string
  signingKeys?: SigningKeys
  /** Seconds of the queue that pass within one second, which shortens delays, retries and schedules. */
  speed?: number
  /** The time of signatures; the machine's by default. */
  now?: () => Date
  faults?: Faults
}

/** A running queue that speaks QStash's protocol. */
export type Qstash = {
  url: string
  token: string
  /** The present keys. */
  readonly keys: SigningKeys
  /** Makes the next key the current one and creates another next key. */
  rollKeys: () => void
  /** Every message that was published, oldest first. */
  messages: readonly Message[]
  deadLetters: readonly DeadLetter[]
  schedules: () => Schedule[]
  /** Counts the requests that were sent to destinations. */
  attempts: () => number
  /** Resolves when no delivery and no retry is pending. */
  settled: () => Promise<void>
  close: () => Promise<void>
}

/** Starts a queue on the loopback interface. Its messages and schedules are lost when it is closed. */
export async function startQstash(options: QstashOptions = {}): Promise<Qstash> {
  const { token = 'token-of-the-local-queue', speed = 1, now = () => new Date() } = options
  const keys = { ...(options.signingKeys ?? { current: createKey(), next: createKey() }) }
  const startedAt = Date.now()
  const clock = () => startedAt + (Date.now() - startedAt) * speed
  const delivery = openDelivery({ keys, speed, now, faults: options.faults ?? noFaults })
  const messages: Message[] = []
  const accept = (message: Message) => {
    messages.push(message)
    delivery.accept(message)
  }
  const schedules = openSchedules({ clock, after: delivery.after, accept })
  const rollKeys = () => void Object.assign(keys, { current: keys.next, next: createKey() })
  const state: State = {
    clock,
    accept,
    messageIds: new Map(),
    schedules,
    deadLetters: delivery.deadLetters,
    keys,
    rollKeys,
  }
  const server = createServer((incoming, outgoing) => {
    void respond(incoming, token, state).then(({ status, body }) =>
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    )
  })
  await once(server.listen(options.port ?? 0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    keys,
    rollKeys,
    messages,
    deadLetters: delivery.deadLetters,
    schedules: schedules.list,
    attempts: delivery.attempts,
    settled: delivery.settled,
    close: async () => {
      delivery.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const createKey = () => `sig_${crypto.randomUUID().replaceAll('-', '')}`

async function respond(incoming: IncomingMessage, token: string, state: State): Promise<ApiResponse> {
  try {
    const body = new Uint8Array(await buffer(incoming))
    if (incoming.headers.authorization !== `Bearer ${token}`)
      throw new QstashError(401, 'unable to authenticate')
    return handleRequest(toApiRequest(incoming, body), state)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { status: error instanceof QstashError ? error.status : 500, body: { error: message } }
  }
}

/** Converts a request without decoding its path, which may hold a whole URL. */
function toApiRequest(incoming: IncomingMessage, body: Uint8Array): ApiRequest {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
  return { method: incoming.method ?? 'GET', path: incoming.url ?? '/', headers, body }
}
