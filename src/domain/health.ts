import { sql } from 'drizzle-orm'
import type { Panel } from '../panel.ts'

/** Milliseconds after which a part counts as down. */
const patience = 3000

export type Health = { status: 'ok' | 'degraded' | 'down'; parts: Record<string, 'ok' | 'down'> }

/** The state of each part. The panel is down without its database, and degraded without any other part. */
export async function checkHealth(panel: Panel): Promise<Health> {
  const [database, cache, queue, objects] = await Promise.all([
    answers(panel.db.execute(sql`select 1`)),
    answers(panel.cache.ping()),
    answers(panel.queue.ping()),
    answers(panel.objects.ping()),
  ])
  const parts = { database, cache, queue, objects }
  const isDegraded = Object.values(parts).includes('down')
  return { status: database === 'down' ? 'down' : isDegraded ? 'degraded' : 'ok', parts }
}

async function answers(work: PromiseLike<unknown>): Promise<'ok' | 'down'> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<'down'>((resolve) => {
    timer = setTimeout(() => resolve('down'), patience)
  })
  const done = Promise.resolve(work).then(
    () => 'ok' as const,
    () => 'down' as const,
  )
  const state = await Promise.race([done, late])
  clearTimeout(timer)
  return state
}
