import pLimit from 'p-limit'
import { createKeyedMutex } from '../../keyed-mutex.ts'
import type { Faults } from './faults.ts'
import type { Message } from './message.ts'
import { signMessage, type SigningKeys } from './signature.ts'

/** A message whose destination refused every delivery, with the last response; status 0 means unreachable. */
export type DeadLetter = { dlqId: string; message: Message; status: number; body: string }

export type DeliveryOptions = {
  keys: SigningKeys
  /** Seconds of the queue that pass within one second. */
  speed: number
  /** The time of signatures. */
  now: () => Date
  faults: Faults
}

export type Delivery = {
  /** Delivers a message after its delay, once more after each failure up to its number of retries. */
  accept: (message: Message) => void
  deadLetters: DeadLetter[]
  /** Counts the requests that were sent to destinations. */
  attempts: () => number
  /** Runs `work` after this many seconds of the queue, unless the queue is closed before. */
  after: (seconds: number, work: () => void) => void
  /** Resolves when no delivery and no retry is pending. */
  settled: () => Promise<void>
  close: () => void
}

/** Returns the seconds before the n-th retry. */
export const backoff = (n: number) => Math.min(86_400, Math.exp(2.5 * n))

const maxConcurrentDeliveries = 64
const deliveryTimeoutMs = 30_000
/** The status by which a destination, with `Upstash-NonRetryable-Error`, refuses a message for good. */
const nonRetryableStatus = 489
/** Characters of a response that a dead letter keeps. */
const maxKeptBody = 1000

type Outcome = { status: number; body: string; isFinal: boolean }

/** Delivers messages as QStash does: signed, again after failures, and to the dead letters in the end. */
export function openDelivery(options: DeliveryOptions): Delivery {
  const timers = createTimers(options.speed)
  const limit = pLimit(maxConcurrentDeliveries)
  const queues = createKeyedMutex()
  const deadLetters: DeadLetter[] = []
  let attempts = 0

  const deliver = async (message: Message) => {
    for (let retried = 0; ; retried += 1) {
      attempts += 1
      const { status, body, isFinal } = await limit(() => send(message, retried, options))
      if (status >= 200 && status < 300) return
      if (isFinal || retried >= message.retries) {
        deadLetters.push({ dlqId: `dlq_${crypto.randomUUID()}`, message, status, body })
        return
      }
      await new Promise<void>((resolve) => timers.after(backoff(retried + 1), resolve))
    }
  }
  return {
    deadLetters,
    attempts: () => attempts,
    after: timers.after,
    settled: timers.settled,
    close: timers.close,
    accept: (message) => {
      const { drop, copies = 1, delay = 0 } = options.faults(message)
      if (drop) return
      const { queue } = message
      for (let copy = 0; copy < copies; copy += 1) {
        const finish = timers.begin()
        timers.after(message.delay + delay, () => {
          const delivered = queue === null ? deliver(message) : queues.run(queue, () => deliver(message))
          void delivered.finally(finish)
        })
      }
    },
  }
}

/** Creates timers on a clock that runs `speed` times as fast, and counts the work that is pending on it. */
function createTimers(speed: number) {
  const timers = new Set<NodeJS.Timeout>()
  let pending = 0
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
    /** Counts one more piece of work as pending until the returned function is called. */
    begin: () => {
      pending += 1
      return () => {
        pending -= 1
        if (pending > 0) return
        idle.resolve()
        idle = Promise.withResolvers()
      }
    },
    settled: () => (pending === 0 ? Promise.resolve() : idle.promise),
    close: () => {
      isClosed = true
      for (const timer of timers) clearTimeout(timer)
      idle.resolve()
    },
  }
}

/** Sends a message once. Gives status 0 when the destination cannot be reached. */
async function send(message: Message, retried: number, options: DeliveryOptions): Promise<Outcome> {
  const { id, url, method, body, headers, scheduleId } = message
  try {
    const signature = signMessage({ key: options.keys.current, url, body, now: options.now() })
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(deliveryTimeoutMs),
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
    const isFinal =
      response.status === nonRetryableStatus && response.headers.has('upstash-nonretryable-error')
    return { status: response.status, body: (await response.text()).slice(0, maxKeptBody), isFinal }
  } catch (error) {
    return { status: 0, body: error instanceof Error ? error.message : String(error), isFinal: false }
  }
}
