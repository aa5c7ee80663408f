import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'

type Drag = { from: number; to: number }

/**
 * Puts the children of a list into another order by a handle in each: dragged by mouse or finger, or moved by the
 * arrow keys. `move` is told from which place to which, counted from 0. While one is dragged the rows stay where they
 * are in the document, or the pointer would be lost: `orderOf` says where each is shown.
 */
export function useDragOrder(move: (from: number, to: number) => void) {
  const list = useRef<HTMLOListElement>(null)
  const [drag, setDrag] = useState<Drag | null>(null)

  /** As many rows are above the pointer. */
  const placeAt = (y: number): number => {
    const rows = [...(list.current?.children ?? [])]
    const above = rows.filter((row) => row.getBoundingClientRect().bottom <= y)
    return Math.min(above.length, rows.length - 1)
  }

  const handle = (at: number) => ({
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from: at, to: at })
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (drag) setDrag({ ...drag, to: placeAt(event.clientY) })
    },
    onPointerUp: () => {
      setDrag(null)
      if (drag && drag.from !== drag.to) move(drag.from, drag.to)
    },
    onPointerCancel: () => setDrag(null),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
      const to = at + by
      if (by === 0 || to < 0 || to >= (list.current?.children.length ?? 0)) return
      event.preventDefault()
      move(at, to)
    },
  })
  const orderOf = (at: number): number => {
    if (!drag || at === drag.from) return drag?.to ?? at
    if (at > drag.from && at <= drag.to) return at - 1
    return at < drag.from && at >= drag.to ? at + 1 : at
  }

  return { list, dragged: drag?.from ?? null, orderOf, handle }
}

/** The list with one of its rows at another place. */
export function moved<Row>(rows: readonly Row[], from: number, to: number): Row[] {
  const others = rows.filter((_, at) => at !== from)
  return [...others.slice(0, to), ...rows.slice(from, from + 1), ...others.slice(to)]
}
