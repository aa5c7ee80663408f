import type { Panel } from '../panel.ts'

type InFlightCall = { promise: Promise<unknown>; startedAtMs: number }

/** Milliseconds after which a call is no longer joined: it is over, or died with the request that made it. */
const maxInFlightMs = 15_000

/** Joins the call in flight under this key in this process, or makes the call. */
export function singleFlight<T>(panel: Panel, key: string, call: () => Promise<T>): Promise<T> {
  const inFlight = panel.inFlight as Map<string, InFlightCall> | null
  if (!inFlight) return call()
  const now = panel.now().getTime()
  const existing = inFlight.get(key)
  if (existing && now - existing.startedAtMs < maxInFlightMs) return existing.promise as Promise<T>
  const promise = call()
  const entry: InFlightCall = { promise, startedAtMs: now }
  inFlight.set(key, entry)
  const clear = () => {
    if (inFlight.get(key) === entry) inFlight.delete(key)
  }
  promise.then(clear, clear)
  return promise
}
