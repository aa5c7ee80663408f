import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

export type Selection = {
  names: ReadonlySet<string>
  /** Marks or unmarks one; with `isRange` also all between it and the one before. */
  toggle: (name: string, isMarked: boolean, isRange: boolean) => void
  /** Marks these and nothing else. */
  set: (names: readonly string[]) => void
}

/** Which of the entries are marked; what is not there any more is not. */
export function useSelection(shown: readonly string[], existing: readonly string[]): Selection {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string | null>(null)
  const names = useMemo(() => {
    const there = new Set(existing)
    return new Set([...marked].filter((name) => there.has(name)))
  }, [marked, existing])
  const latest = useRef({ shown, names })
  useEffect(() => {
    latest.current = { shown, names }
  })
  // The same function for as long as the list is shown, so that rows that did not change are left alone.
  const toggle = useCallback((name: string, isMarked: boolean, isRange: boolean) => {
    const { shown, names } = latest.current
    const [from, to] = [shown.indexOf(last.current ?? ''), shown.indexOf(name)]
    const touched = isRange && from >= 0 ? shown.slice(Math.min(from, to), Math.max(from, to) + 1) : [name]
    last.current = name
    const next = new Set(names)
    for (const each of touched) {
      if (isMarked) next.add(each)
      else next.delete(each)
    }
    setMarked(next)
  }, [])
  return { names, toggle, set: (next) => setMarked(new Set(next)) }
}
