import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let isDemanded = false

function set(demanded: boolean): void {
  if (demanded === isDemanded) return
  isDemanded = demanded
  for (const listener of listeners) listener()
}

/** Whether the panel has refused something because a second factor must be set up first. */
export const secondFactorDemand = {
  raise: () => set(true),
  clear: () => set(false),
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useSecondFactorDemand = (): boolean => useSyncExternalStore(subscribe, () => isDemanded)
