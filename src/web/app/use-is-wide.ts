import { useSyncExternalStore } from 'react'

/** From this width on, lists can be shown as tables. */
const wide = matchMedia('(min-width: 48rem)')

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

/** Whether the window is wide enough for tables. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches)
