import { useSyncExternalStore } from 'react'
import { formatInstant, formatRelative } from '../app/formats.ts'

const halfMinute = 30_000
const watchers = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for every time on the page. */
function subscribe(watcher: () => void): () => void {
  watchers.add(watcher)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of watchers) each()
  }, halfMinute)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** How long ago or ahead; the exact time, in the reader's zone, when it is pointed at. */
export function Instant({ at }: { at: string | Date }) {
  useSyncExternalStore(subscribe, () => now)
  const instant = new Date(at)
  return (
    <time dateTime={instant.toISOString()} title={formatInstant(instant)}>
      {formatRelative(instant)}
    </time>
  )
}
