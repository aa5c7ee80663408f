import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

export type Selection = {
  names: ReadonlySet<string>
  /** Selects or deselects an entry; with `isRange` also all entries since the last one. */
  toggle: (name: string, isSelected: boolean, isRange: boolean) => void
  /** Replaces the selection. */
  set: (names: readonly string[]) => void
}

/** Keeps the selected entries; those that no longer exist are dropped. */
export function useSelection(shown: readonly string[], existing: readonly string[]): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string | null>(null)
  const names = useMemo(() => {
    const existingNames = new Set(existing)
    return new Set([...selected].filter((name) => existingNames.has(name)))
  }, [selected, existing])
  const latest = useRef({ shown, names })
  useEffect(() => {
    latest.current = { shown, names }
  })
  // The function stays the same, so that rows without changes are not rendered again.
  const toggle = useCallback((name: string, isSelected: boolean, isRange: boolean) => {
    const { shown, names } = latest.current
    const [from, to] = [shown.indexOf(last.current ?? ''), shown.indexOf(name)]
    const changed = isRange && from >= 0 ? shown.slice(Math.min(from, to), Math.max(from, to) + 1) : [name]
    last.current = name
    const next = new Set(names)
    for (const each of changed) {
      if (isSelected) next.add(each)
      else next.delete(each)
    }
    setSelected(next)
  }, [])
  return { names, toggle, set: (next) => setSelected(new Set(next)) }
}
