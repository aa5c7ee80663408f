import type { SigningKeys } from '../../../adapters/queue-signature.ts'
import { type Lanes, openLanes } from '../lanes.ts'
import { signMessage } from '../qstash-signature.ts'
import type { Faults } from './faults.ts'
import type { Message } from './message.ts'

/** A message that nobody took. */
export type DeadLetter = { dlqId: string; message: Message; status: number; answer: string }

export type DeliveryOptions = {
  keys: SigningKeys
  /** Seconds of the queue that pass within one second. */
  speed: number
  /** The instant of signatures. */
  now: () => Date
  faults: Faults
}

export type Delivery = {
  accept: (message: Message) => void
  deadLetters: DeadLetter[]
  /** How often something was sent to a destination. */
  attempts: () => number
  /** Does something after seconds of the queue, unless it is closed before. */
  after: (seconds: number, work: () => void) => void
  /** Nothing is on its way any more. */
  settled: () => Promise<void>
  close: () => void
}

/** Seconds before the n-th repetition. */
export const backoff = (n: number) => Math.min(86_400, Math.exp(2.5 * n))

const mostAtOnce = 64
const patience = 30_000
/** Nothing that is sent again would change anything, says the destination. */
const neverAgain = 489

type Answer = { status: number; text: string; isFinal: boolean }

/** Delivers messages as QStash does: signed, again after failures, in the end to the dead letters. */
export function openDelivery(options: DeliveryOptions): Delivery {
  const clock = openClock(options.speed)
  const everybody = openLanes(mostAtOnce)
  const queues = new Map<string, Lanes>()
  const deadLetters: DeadLetter[] = []
  let attempts = 0

  /** Until somebody takes it, or it is given up. */
  const carry = async (message: Message) => {
    for (let retried = 0; ; retried += 1) {
      attempts += 1
      const { status, text, isFinal } = await everybody(() => send(message, retried, options))
      if (status >= 200 && status < 300) return
      if (isFinal || retried >= message.retries) {
        deadLetters.push({ dlqId: `dlq_${crypto.randomUUID()}`, message, status, answer: text })
        return
      }
      await new Promise<void>((resolve) => clock.after(backoff(retried + 1), resolve))
    }
  }
  const laneOf = (queue: string): Lanes => {
    const lane = queues.get(queue) ?? openLanes(1)
    queues.set(queue, lane)
    return lane
  }
  return {
    deadLetters,
    attempts: () => attempts,
    after: clock.after,
    settled: clock.settled,
    close: clock.close,
    accept: (message) => {
      const { drop, copies = 1, delay = 0 } = options.faults(message)
      if (drop) return
      const { queue } = message
      for (let copy = 0; copy < copies; copy += 1) {
        const leave = clock.enter()
        clock.after(message.delay + delay, () => {
          const carried = queue === null ? carry(message) : laneOf(queue)(() => carry(message))
          void carried.finally(leave)
        })
      }
    },
  }
}

/** Time that passes faster, and whether something is on its way in it. */
function openClock(speed: number) {
  const timers = new Set<NodeJS.Timeout>()
  let underWay = 0
  let [idle, isClosed] = [Promise.withResolvers<void>(), false]
  return {
    after: (seconds: number, work: () => void) => {
      if (isClosed) return
      const run = () => {
        timers.delete(timer)
        work()
      }
      const timer = setTimeout(run, Math.max(0, (seconds * 1000) / speed))
      timers.add(timer)
    },
    /** What it gives is called when that something has come to its end. */
    enter: () => {
      underWay += 1
      return () => {
        underWay -= 1
        if (underWay > 0) return
        idle.resolve()
        idle = Promise.withResolvers()
      }
    },
    settled: () => (underWay === 0 ? Promise.resolve() : idle.promise),
    close: () => {
      isClosed = true
      for (const timer of timers) clearTimeout(timer)
      idle.resolve()
    },
  }
}

/** One delivery; a destination that cannot be reached answers with status 0. */
async function send(message: Message, retried: number, options: DeliveryOptions): Promise<Answer> {
  const { id, url, method, body, headers, scheduleId } = message
  try {
    const signature = await signMessage({ key: options.keys.current, url, body, now: options.now() })
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(patience),
      headers: {
        ...headers,
        'user-agent': 'Upstash-QStash',
        'upstash-message-id': id,
        'upstash-retried': String(retried),
        'upstash-signature': signature,
        ...(scheduleId === null ? {} : { 'upstash-schedule-id': scheduleId }),
      },
      ...(method === 'GET' || method === 'HEAD' ? {} : { body: new Uint8Array(body) }),
    })
    const isFinal = response.status === neverAgain && response.headers.has('upstash-nonretryable-error')
    return { status: response.status, text: (await response.text()).slice(0, 1000), isFinal }
  } catch (error) {
    return { status: 0, text: error instanceof Error ? error.message : String(error), isFinal: false }
  }
}
