import * as z from 'zod'
import { recordEvent } from '../../domain/activity/record.ts'
import type { Panel } from '../../panel.ts'

/** The input of `queue:schedule`: nothing. */
export const QueueScheduleInput = () => z.object({})

/** Makes the queue call the tick every minute; idempotent. Records `admin:queue.schedule`. */
export async function scheduleTick(panel: Panel): Promise<{ scheduled: true }> {
  await panel.queue.scheduleTick()
  await recordEvent(panel, 'admin:queue.schedule')
  return { scheduled: true }
}
