import { useSyncExternalStore } from 'react'

/** As wide as where tables are shown. */
const wide = matchMedia('(min-width: 48rem)')

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

/** Whether there is room for a table. */
export const useWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches)
