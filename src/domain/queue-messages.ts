import type { Queue } from '../adapters/queue.ts'
import { unauthenticated } from '../errors.ts'
import { log } from '../log.ts'
import type { Panel } from '../panel.ts'

/**
 * The queue signed this message, for this address; it is counted by the key. Refuses with 401, whatever is wrong, and
 * logs it where there is a signature: the keys of the panel may be other ones than those of the queue.
 */
export async function requireSigned(panel: Panel, message: Parameters<Queue['signedBy']>[0]): Promise<void> {
  const key = await panel.queue.signedBy(message)
  panel.metrics.count('roost_queue_messages_total', { key: key ?? 'none' })
  if (key !== null) return
  if (message.signature !== '')
    log('warn', 'A message was refused: our signing keys do not fit its signature.')
  throw unauthenticated('The message is not signed by the queue.')
}
