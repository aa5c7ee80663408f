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

/** Asks the process that started this one to listen at an address; `listen-no-more` with the same `place` takes it back. */
export type ListenMessage = { kind: 'listen'; place: string; host: string; port: number }

/** Says at which port it listens, or why it does not. */
export type ListeningMessage = {
  kind: 'listening'
  place: string
  port: number
  error: { code: string; message: string } | null
}

/** Comes with a connection; the answer says whether the process has taken it. */
export type ConnectionMessage = { kind: 'connection'; place: string; id: number }
export type SeenMessage = { kind: 'connection-seen'; place: string; id: number; isTaken: boolean }

/** Sends a message to the process that started this one; resolves also when that has ended. */
export const sendUp = (message: object): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
    else resolve()
  })

/** Asks a process whether its event loop turns; it sends the same back. */
export const ping = { kind: 'ping' } as const

/** Set for the first process of a start, which prepares an empty database. */
export const firstProcessVariable = 'ROOST_FIRST_PROCESS'

/** Whether a message is of this kind; programs around Node send messages of their own. */
export const isMessage = <Kind extends string>(message: unknown, kind: Kind): boolean =>
  typeof message === 'object' && message !== null && (message as { kind?: unknown }).kind === kind
