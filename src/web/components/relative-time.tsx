import { useSyncExternalStore } from 'react'
import { formatDateTime, formatRelative } from '../app/formats.ts'

const tickIntervalMs = 30_000
const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** Shares one timer between all times on the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const notify of listeners) notify()
  }, tickIntervalMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Shows a time relative to now; the exact local time is its tooltip. */
export function RelativeTime({ at }: { at: string | Date }) {
  useSyncExternalStore(subscribe, () => now)
  const instant = new Date(at)
  return (
    <time dateTime={instant.toISOString()} title={formatDateTime(instant)}>
      {formatRelative(instant)}
    </time>
  )
}
