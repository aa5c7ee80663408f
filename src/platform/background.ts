import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'
import { openPanel, type Parts } from './parts.ts'
import type { SchemaGuard } from './schema-guard.ts'

/** What a platform runs once a minute; `tick` of the domain, where a function carries it. */
export type Tick = (panel: Panel) => Promise<unknown>

/** All the work is done, or its failure logged. */
export async function finish(work: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') log('error', 'Deferred work failed.', { cause: causeOf(result.reason) })
  }
}

/**
 * Runs the tick as the system, and whatever it leaves to be done; nothing while the database is behind. A failure
 * is logged and thrown on.
 */
export async function runTick(parts: Parts, tick: Tick, schema: SchemaGuard): Promise<void> {
  const deferred: Promise<unknown>[] = []
  const panel = openPanel(parts, {
    ip: '0.0.0.0',
    requestId: crypto.randomUUID(),
    defer: (work) => void deferred.push(work),
  })
  try {
    await tickUnlessBehind({ ...panel, actor: { kind: 'system' } }, tick, schema)
  } catch (error) {
    log('error', 'The tick failed.', { cause: causeOf(error) })
    throw error
  } finally {
    await finish(deferred)
  }
}

/** Runs the tick, or says that it is left out because the database lacks migrations of this code. */
export async function tickUnlessBehind(panel: Panel, tick: Tick, schema: SchemaGuard | null): Promise<void> {
  if (await schema?.isBehind(panel.db)) log('warn', 'The tick is left out: the database lacks migrations.')
  else await tick(panel)
}
