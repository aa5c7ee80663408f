import type { Queue, QueueOptions } from '../adapters/queue.ts'

/** Returns the queue, whose code is loaded with its first use. */
export function lazyQueue(options: QueueOptions): Queue {
  const queue = async () => (await import('../adapters/queue.ts')).qstashQueue(options)
  return {
    send: async (messages) => (await queue()).send(messages),
    scheduleTick: async () => (await queue()).scheduleTick(),
    verifySignature: async (message) => (await queue()).verifySignature(message),
    ping: async () => (await queue()).ping(),
  }
}
