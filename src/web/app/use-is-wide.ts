import { useSyncExternalStore } from 'react'

/** Makes a hook of a media query. */
function mediaHook(query: string): () => boolean {
  const media = matchMedia(query)
  const subscribe = (listener: () => void) => {
    media.addEventListener('change', listener)
    return () => media.removeEventListener('change', listener)
  }
  return () => useSyncExternalStore(subscribe, () => media.matches)
}

/** Whether the window is wide enough for lists as tables. */
export const useIsWide = mediaHook('(min-width: 48rem)')

/** Whether the window has room for a second column beside the navigation and the content. */
export const useHasSideColumn = mediaHook('(min-width: 80rem)')
