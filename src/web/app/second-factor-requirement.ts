import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let isRequired = false

function set(required: boolean): void {
  if (required === isRequired) return
  isRequired = required
  for (const listener of listeners) listener()
}

/** Remembers that the panel refused a request because two-factor authentication must be set up. */
export const secondFactorRequirement = {
  raise: () => set(true),
  clear: () => set(false),
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useSecondFactorRequired = (): boolean => useSyncExternalStore(subscribe, () => isRequired)
