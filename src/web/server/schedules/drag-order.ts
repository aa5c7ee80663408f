import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'

type Drag = { from: number; to: number }

/**
 * Reorders the children of a list by a handle in each, by dragging or with the arrow keys. Calls `move` with
 * indexes from 0. While dragging, the elements keep their place in the document so that the pointer stays captured;
 * `orderOf` returns where to show them.
 */
export function useDragOrder(move: (from: number, to: number) => void) {
  const list = useRef<HTMLOListElement>(null)
  const [drag, setDrag] = useState<Drag | null>(null)

  /** Returns the index below the pointer. */
  const indexAt = (y: number): number => {
    const rows = [...(list.current?.children ?? [])]
    const above = rows.filter((row) => row.getBoundingClientRect().bottom <= y)
    return Math.min(above.length, rows.length - 1)
  }

  const handle = (index: number) => ({
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from: index, to: index })
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (drag) setDrag({ ...drag, to: indexAt(event.clientY) })
    },
    onPointerUp: () => {
      setDrag(null)
      if (drag && drag.from !== drag.to) move(drag.from, drag.to)
    },
    onPointerCancel: () => setDrag(null),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
      const to = index + step
      if (step === 0 || to < 0 || to >= (list.current?.children.length ?? 0)) return
      event.preventDefault()
      move(index, to)
    },
  })
  const orderOf = (index: number): number => {
    if (!drag || index === drag.from) return drag?.to ?? index
    if (index > drag.from && index <= drag.to) return index - 1
    return index < drag.from && index >= drag.to ? index + 1 : index
  }

  return { list, dragged: drag?.from ?? null, orderOf, handle }
}

/** Returns the list with one row moved. */
export function withMoved<Row>(rows: readonly Row[], from: number, to: number): Row[] {
  const others = rows.filter((_, index) => index !== from)
  return [...others.slice(0, to), ...rows.slice(from, from + 1), ...others.slice(to)]
}
