import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { asRequestError } from '../api/error.ts'
import type { ServerSummary } from '../api/server-list.ts'
import { type PowerSignal, sendPower } from '../api/servers.ts'
import { signalPermissions } from '../server/power.tsx'
import { isBlocked } from '../server/server-state.ts'
import { can } from './listed-server.ts'

/** What became of the signal to one server; `reason` says why it failed. */
export type PowerResult = {
  server: ServerSummary
  outcome: 'waiting' | 'sent' | 'forbidden' | 'blocked' | 'failed' | 'cancelled'
  reason?: string
}

export type PowerRun = { signal: PowerSignal; results: readonly PowerResult[]; isRunning: boolean }

/** Signals in flight at once: daemons and the rate limit of the panel bear more, users gain little by it. */
const maxParallel = 4
const maxAttempts = 3
const maxWaitSeconds = 60

/** Sends a power signal to several servers, a few at a time, and keeps what became of each. */
export function useBulkPower(): {
  run: PowerRun | null
  start: (signal: PowerSignal, servers: readonly ServerSummary[]) => void
  cancel: () => void
  clear: () => void
} {
  const queries = useQueryClient()
  const [run, setRun] = useState<PowerRun | null>(null)
  const abort = useRef<AbortController>(undefined)
  const start = async (signal: PowerSignal, servers: readonly ServerSummary[]) => {
    const controller = new AbortController()
    abort.current = controller
    const results = servers.map((server) => firstResult(server, signal))
    const show = (isRunning: boolean) => setRun({ signal, results: [...results], isRunning })
    show(true)
    const waiting = results.flatMap(({ outcome }, at) => (outcome === 'waiting' ? [at] : []))
    const work = async () => {
      for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
        const server = servers[at] as ServerSummary
        results[at] = controller.signal.aborted
          ? { server, outcome: 'cancelled' }
          : await signalOne(server, signal, controller.signal)
        show(true)
      }
    }
    await Promise.all(Array.from({ length: maxParallel }, work))
    show(false)
    await queries.invalidateQueries({ queryKey: ['resources'] })
  }
  return {
    run,
    start: (signal, servers) => void start(signal, servers),
    cancel: () => abort.current?.abort(),
    clear: () => setRun(null),
  }
}

/** Servers on which the user may not do it, and blocked ones, are not tried. */
function firstResult(server: ServerSummary, signal: PowerSignal): PowerResult {
  if (!can(server, signalPermissions[signal])) return { server, outcome: 'forbidden' }
  return { server, outcome: isBlocked(server) ? 'blocked' : 'waiting' }
}

async function signalOne(
  server: ServerSummary,
  signal: PowerSignal,
  aborted: AbortSignal,
): Promise<PowerResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sendPower(server.identifier, signal)
      return { server, outcome: 'sent' }
    } catch (error) {
      const refusal = asRequestError(error)
      const wait = refusal?.status === 429 && attempt < maxAttempts ? (refusal.retryAfter ?? 1) : null
      if (wait === null || wait > maxWaitSeconds)
        return { server, outcome: 'failed', reason: refusal?.message ?? '' }
      await delay(wait * 1000)
      if (aborted.aborted) return { server, outcome: 'cancelled' }
    }
  }
}

const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
