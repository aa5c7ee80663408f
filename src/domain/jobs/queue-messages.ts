import type { Queue } from '../../adapters/queue.ts'
import { unauthenticated } from '../../errors.ts'
import { log } from '../../log.ts'
import type { Panel } from '../../panel.ts'

/**
 * Refuses with 401 a message that the queue did not sign for this address. Counts messages by signing key, and
 * logs a signature that matches no key: the panel may have other keys than the queue.
 */
export async function requireQueueSignature(
  panel: Panel,
  message: Parameters<Queue['verifySignature']>[0],
): Promise<void> {
  const key = await panel.queue.verifySignature(message)
  panel.metrics.count('roost_queue_messages_total', { key: key ?? 'none' })
  if (key !== null) return
  if (message.signature !== '')
    log('warn', 'A message was refused: its signature matches neither signing key.')
  throw unauthenticated('callback_refused', 'The message is not signed by the queue.')
}
