import type { Counters } from './merged-counters.ts'
import type { ProcessMetrics } from './process-metrics.ts'

/** What a process says once it answers requests. */
export type ReadyMessage = {
  kind: 'ready'
  url: string
  hasAdministrator: boolean
  setupCode: string | null
}

/** How a process has to end: at once, or after the callers of its connections had time to go to another one. */
export type EndMessage = { kind: 'end'; drains: boolean; leaves: boolean }

/** What a process has measured; `round` repeats that of the question, and is 0 when the process ends. */
export type MetricsMessage = { kind: 'metrics'; round: number; counters: Counters; metrics: ProcessMetrics }

/** The counters of all processes, and what each measured of itself. */
export type MetricsOfAllMessage = {
  kind: 'metrics-of-all'
  counters: Counters
  processes: { place: number; metrics: ProcessMetrics }[]
}

/** Asks a process whether its event loop turns; it sends the same back. */
export const ping = { kind: 'ping' } as const

/** Set for the first process of a start, which prepares an empty database. */
export const firstProcessVariable = 'ROOST_FIRST_PROCESS'

/** Whether a message is of this kind; programs around Node send messages of their own. */
export const isMessage = <Kind extends string>(message: unknown, kind: Kind): boolean =>
  typeof message === 'object' && message !== null && (message as { kind?: unknown }).kind === kind
