import { createContext, type ReactNode, useState } from 'react'

/** The element that the bar is rendered into; null before there is one. */
export const BottomBarElement = createContext<HTMLElement | null>(null)

/** Reserves the place of the bar below everything else, the notice of an acting administrator included. */
export function BottomBarPlace({ children }: { children: ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null)
  return (
    <BottomBarElement value={place}>
      {children}
      <div ref={setPlace} id="bottom-bar" className="sticky bottom-0 z-30 lg:hidden" />
    </BottomBarElement>
  )
}
