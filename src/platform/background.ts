import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'
import { openPanel, type Parts } from './parts.ts'

/** What a platform runs once a minute; `tick` of the domain, where a function carries it. */
export type Tick = (panel: Panel) => Promise<unknown>

/** All the work is done, or its failure logged. */
export async function finish(work: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') log('error', 'Deferred work failed.', { cause: causeOf(result.reason) })
  }
}

/** Runs the tick as the system, and whatever it leaves to be done. A failure is logged and thrown on. */
export async function runTick(parts: Parts, tick: Tick): Promise<void> {
  const deferred: Promise<unknown>[] = []
  const panel = openPanel(parts, {
    ip: '0.0.0.0',
    requestId: crypto.randomUUID(),
    defer: (work) => void deferred.push(work),
  })
  try {
    await tick({ ...panel, actor: { kind: 'system' } })
  } catch (error) {
    log('error', 'The tick failed.', { cause: causeOf(error) })
    throw error
  } finally {
    await finish(deferred)
  }
}
