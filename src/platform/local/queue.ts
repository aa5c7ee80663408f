import pLimit from 'p-limit'
import { findSigningKey, type SigningKeys } from '../../adapters/queue-signature.ts'
import type { Queue, QueueMessage } from '../../adapters/queue.ts'
import { causeOf, log } from '../../log.ts'
import { signMessage } from '../../dev/qstash/signature.ts'

export type LocalQueueOptions = {
  origin: () => string
  signingKeys: SigningKeys
  /** Answers a message by the app of this process. */
  deliver: (request: Request) => Promise<Response>
}

/** Messages delivered at once: ten thousand that are due in the same second leave room for requests. */
const maxConcurrentDeliveries = 16

/**
 * Delivers messages inside this process, signed as QStash signs them, so that the jobs function
 * runs the same code as behind QStash. What is lost with the process is found by the minute sweep.
 */
export function localQueue(options: LocalQueueOptions): { queue: Queue; close: () => void } {
  const timers = new Set<NodeJS.Timeout>()
  const limitDelivery = pLimit(maxConcurrentDeliveries)
  let isClosed = false
  const deliver = async ({ id, traceparent, tracestate }: QueueMessage) => {
    if (isClosed) return
    const body = JSON.stringify({ job: id })
    const url = `${options.origin()}/jobs/run`
    const signature = signMessage({ key: options.signingKeys.current, url, body })
    const headers = {
      'content-type': 'application/json',
      'upstash-signature': signature,
      ...(traceparent ? { traceparent } : {}),
      ...(tracestate ? { tracestate } : {}),
    }
    await options.deliver(new Request(url, { method: 'POST', headers, body }))
  }
  return {
    queue: {
      send: async (messages) => {
        for (const message of messages) {
          const timer = setTimeout(() => {
            timers.delete(timer)
            limitDelivery(() => deliver(message)).catch((error: unknown) =>
              log('warn', 'A message was not delivered.', { job: message.id, cause: causeOf(error) }),
            )
          }, message.delaySeconds * 1000)
          timers.add(timer)
        }
      },
      // The process ticks by itself.
      scheduleTick: async () => undefined,
      verifySignature: ({ path, ...message }) =>
        findSigningKey(options.signingKeys, { ...message, url: `${options.origin()}${path}` }),
      ping: async () => undefined,
    },
    close: () => {
      isClosed = true
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}
