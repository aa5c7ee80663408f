import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { SigningKeys } from '../../../adapters/queue-signature.ts'
import { answer, type Request, type State } from './api.ts'
import { type DeadLetter, openDelivery } from './delivery.ts'
import { type Faults, noFaults } from './faults.ts'
import { type Message, Refusal } from './message.ts'
import { openSchedules, type Schedule } from './schedules.ts'

export type QstashOptions = {
  port?: number
  token?: string
  signingKeys?: SigningKeys
  /** Seconds of the queue that pass within one second: makes delays, repetitions and schedules short. */
  speed?: number
  /** The instant of signatures; the real one when left out. */
  now?: () => Date
  faults?: Faults
}

/** A queue that speaks QStash's protocol. */
export type Qstash = {
  url: string
  token: string
  /** The keys as they are now. */
  readonly keys: SigningKeys
  /** The next key signs from now on, and another one comes after it. */
  rollKeys: () => void
  /** What was published, oldest first, whatever became of it. */
  messages: readonly Message[]
  deadLetters: readonly DeadLetter[]
  schedules: () => Schedule[]
  /** How often something was sent to a destination. */
  attempts: () => number
  /** Nothing is on its way any more, repetitions included. */
  settled: () => Promise<void>
  close: () => Promise<void>
}

/** Starts one on the loopback interface; it forgets everything when it ends. */
export async function startQstash(options: QstashOptions = {}): Promise<Qstash> {
  const { token = 'token-of-the-local-queue', speed = 1, now = () => new Date() } = options
  const keys = { ...(options.signingKeys ?? { current: newKey(), next: newKey() }) }
  const start = Date.now()
  const clock = () => start + (Date.now() - start) * speed
  const delivery = openDelivery({ keys, speed, now, faults: options.faults ?? noFaults })
  const messages: Message[] = []
  const accept = (message: Message) => {
    messages.push(message)
    delivery.accept(message)
  }
  const schedules = openSchedules({ clock, after: delivery.after, accept })
  const rollKeys = () => void Object.assign(keys, { current: keys.next, next: newKey() })
  const state: State = {
    clock,
    accept,
    known: new Map(),
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

const newKey = () => `sig_${crypto.randomUUID().replaceAll('-', '')}`

async function respond(
  incoming: IncomingMessage,
  token: string,
  state: State,
): Promise<{ status: number; body: unknown }> {
  try {
    const body = new Uint8Array(await buffer(incoming))
    if (incoming.headers.authorization !== `Bearer ${token}`) throw new Refusal(401, 'unable to authenticate')
    return answer(requestOf(incoming, body), state)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { status: error instanceof Refusal ? error.status : 500, body: { error: message } }
  }
}

/** The path as it was sent: a destination in it must not be read as a part of it. */
function requestOf(incoming: IncomingMessage, body: Uint8Array): Request {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
  return { method: incoming.method ?? 'GET', path: incoming.url ?? '/', headers, body }
}
