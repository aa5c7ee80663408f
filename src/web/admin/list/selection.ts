import { type MouseEvent, useRef, useState } from 'react'

/** The chosen rows of a list, which stay while its pages change. */
export type Selection<Row> = {
  rows: Row[]
  has: (row: Row) => boolean
  /** Chooses a row or not; with the shift key also those between it and the one before. */
  toggle: (row: Row, shown: readonly Row[], event: Pick<MouseEvent, 'shiftKey'>) => void
  /** Chooses these rows, beside those that are chosen, or not. */
  set: (rows: readonly Row[], isChosen: boolean) => void
  clear: () => void
}

/** Keeps the chosen rows of a list. Another `scope`, such as other filters, begins without any. */
export function useSelection<Row>(keyOf: (row: Row) => string | number, scope: string): Selection<Row> {
  const [state, setState] = useState({ scope, rows: new Map<string | number, Row>() })
  const anchor = useRef<string | number | null>(null)
  const rows = state.scope === scope ? state.rows : new Map<string | number, Row>()
  const set = (changed: readonly Row[], isChosen: boolean) => {
    const next = new Map(rows)
    for (const row of changed) {
      if (isChosen) next.set(keyOf(row), row)
      else next.delete(keyOf(row))
    }
    setState({ scope, rows: next })
  }
  return {
    rows: [...rows.values()],
    has: (row) => rows.has(keyOf(row)),
    toggle: (row, shown, { shiftKey }) => {
      const at = shown.findIndex((each) => keyOf(each) === keyOf(row))
      const from = shown.findIndex((each) => keyOf(each) === anchor.current)
      const range = shiftKey && from >= 0 ? shown.slice(Math.min(at, from), Math.max(at, from) + 1) : [row]
      anchor.current = keyOf(row)
      set(range, !rows.has(keyOf(row)))
    },
    set,
    clear: () => set([...rows.values()], false),
  }
}
