import { isWriteFailure, noteWriteFailure } from '../db/write-failures.ts'
import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'
import { openPanel, type Services } from './open-panel.ts'
import type { SchemaGuard } from './schema-guard.ts'

/** The work of every minute: `runTick` of the domain, for functions that bundle it. */
export type Tick = (panel: Panel) => Promise<unknown>

/** Waits for all the work and logs its failures. */
export async function finishDeferred(work: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') log('error', 'Deferred work failed.', { cause: causeOf(result.reason) })
  }
}

/** Runs the tick as the system, then its deferred work; skips it while the database is behind. Logs and throws a failure. */
export async function runTick(services: Services, tick: Tick, schemaGuard: SchemaGuard): Promise<void> {
  const deferred: Promise<unknown>[] = []
  const panel = openPanel(services, {
    ip: '0.0.0.0',
    requestId: crypto.randomUUID(),
    defer: (work) => void deferred.push(work),
  })
  try {
    await tickIfSchemaCurrent({ ...panel, actor: { kind: 'system' } }, tick, schemaGuard)
  } catch (error) {
    log('error', 'The tick failed.', { cause: causeOf(error) })
    throw error
  } finally {
    await finishDeferred(deferred)
  }
}

/** Runs the tick, or logs that it is skipped because the database lacks migrations of this code. */
export async function tickIfSchemaCurrent(
  panel: Panel,
  tick: Tick,
  schemaGuard: SchemaGuard | null,
): Promise<void> {
  if (await schemaGuard?.isBehind(panel.db))
    log('warn', 'The tick was skipped: the database lacks migrations.')
  else {
    await tick(panel).catch((error: unknown) => {
      if (isWriteFailure(error)) noteWriteFailure(panel.db)
      throw error
    })
  }
}
