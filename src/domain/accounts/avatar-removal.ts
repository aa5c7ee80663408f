import { causeOf, log } from '../../log.ts'
import type { Panel } from '../../panel.ts'

/**
 * Deletes the object after the response. A failure is logged with its key, because nothing else refers to
 * it any more.
 */
export function deferAvatarRemoval(panel: Panel, key: string | null): void {
  if (key === null) return
  const removed = panel.objects.remove(key).catch((error: unknown) => {
    log('warn', 'A profile picture could not be deleted.', { key, cause: causeOf(error) })
  })
  panel.defer(removed)
}
