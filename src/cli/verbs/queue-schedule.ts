import * as z from 'zod'
import type { Panel } from '../../panel.ts'

/** What `queue:schedule` is given: nothing. */
export const TickScheduling = () => z.object({})

/** The queue asks for the tick every minute from now on; asking again changes nothing. */
export async function scheduleTick(panel: Panel): Promise<{ scheduled: true }> {
  await panel.queue.scheduleTick()
  return { scheduled: true }
}
