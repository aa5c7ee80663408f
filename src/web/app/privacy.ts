import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
const isBlurred = () => document.documentElement.dataset.blur === 'on'

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Turns privacy mode on or off for this page. */
export function setBlur(blur: boolean): void {
  document.documentElement.dataset.blur = blur ? 'on' : 'off'
  for (const listener of listeners) listener()
}

/** Whether privacy mode is on. */
export const useBlur = (): boolean => useSyncExternalStore(subscribe, isBlurred)
