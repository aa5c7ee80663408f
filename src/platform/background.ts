import type { Panel } from '../panel.ts'
import { openPanel, type Parts } from './parts.ts'

/** What a platform runs once a minute; `tick` of the domain, where a function carries it. */
export type Tick = (panel: Panel) => Promise<unknown>

/** All the work is done, or its failure logged. */
export async function finish(work: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') logFailure('Deferred work failed.', result.reason)
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
    logFailure('The tick failed.', error)
    throw error
  } finally {
    await finish(deferred)
  }
}

function logFailure(message: string, error: unknown): void {
  const cause = rootOf(error)
  const reason = cause instanceof Error ? cause.message : String(cause)
  console.error(JSON.stringify({ level: 'error', message, reason: reason.slice(0, 300) }))
}

/** Messages in front of the root hold the values of statements. */
const rootOf = (error: unknown): unknown =>
  error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error
