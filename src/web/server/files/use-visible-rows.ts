import { useSyncExternalStore } from 'react'
import { rowHeight } from './row-layout.ts'

/** The window is compared with the list in steps of this many rows, so that few of its movements render the list. */
const step = 8

function subscribe(onChange: () => void): () => void {
  const abort = new AbortController()
  addEventListener('scroll', onChange, { passive: true, signal: abort.signal })
  addEventListener('resize', onChange, { signal: abort.signal })
  return () => abort.abort()
}

/** Returns which rows the window shows, with some before and after them. `top` is where the list begins on the page. */
export function useVisibleRows(count: number, top: number): { first: number; end: number } {
  const first = useSyncExternalStore(subscribe, () =>
    Math.max(0, (Math.floor((scrollY - top) / rowHeight / step) - 1) * step),
  )
  const shown = useSyncExternalStore(subscribe, () => Math.ceil(innerHeight / rowHeight))
  return { first, end: Math.min(count, first + shown + 3 * step) }
}
