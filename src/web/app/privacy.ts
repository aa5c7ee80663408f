import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
const isBlurred = () => document.documentElement.dataset.blur === 'on'

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Private data on this page is hidden from now on, or shown. */
export function setBlur(blur: boolean): void {
  document.documentElement.dataset.blur = blur ? 'on' : 'off'
  for (const listener of listeners) listener()
}

/** Whether the reader wants private data hidden. */
export const useBlur = (): boolean => useSyncExternalStore(subscribe, isBlurred)
