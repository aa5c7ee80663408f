import { useState } from 'react'

/** The servers on which the next actions are done, by their identifiers. */
export type Selection = {
  /** Whether servers are being selected. */
  isActive: boolean
  setActive: (isActive: boolean) => void
  identifiers: ReadonlySet<string>
  has: (identifier: string) => boolean
  toggle: (identifier: string, isSelected: boolean) => void
  set: (identifiers: readonly string[]) => void
}

/** Keeps the selected servers while they are being selected; ending it forgets them. */
export function useSelection(): Selection {
  const [isActive, setActive] = useState(false)
  const [identifiers, setIdentifiers] = useState<ReadonlySet<string>>(new Set())
  return {
    isActive,
    setActive: (isActive) => {
      setActive(isActive)
      setIdentifiers(new Set())
    },
    identifiers,
    has: (identifier) => identifiers.has(identifier),
    toggle: (identifier, isSelected) =>
      setIdentifiers((before) => {
        const next = new Set(before)
        if (isSelected) next.add(identifier)
        else next.delete(identifier)
        return next
      }),
    set: (next) => setIdentifiers(new Set(next)),
  }
}
