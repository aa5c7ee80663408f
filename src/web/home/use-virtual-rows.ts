import { type RefCallback, type RefObject, useEffect, useLayoutEffect, useState } from 'react'

/** A row that is rendered, and its distance from the top of the list in pixels. */
export type VirtualRow = { index: number; offset: number }

type VirtualRows = {
  rows: VirtualRow[]
  /** Height of each row, that of the highest, and of the list. */
  rowHeight: number
  height: number
  /** The reference of each row, by which it is measured. */
  measure: RefCallback<HTMLElement>
}

/** Pixels above and below the window whose rows are rendered, too, and the milliseconds after which they are. */
const overscan = 600
const overscanDelayMs = 300
/** Where a list likely begins, in pixels from the top of the window: below the frame, the title and the tools. */
const likelyStart = 200
/** Pixels by which the rendered range moves, so that not each event of scrolling renders; fewer above the list. */
const rangeStepAt = (top: number): number => (top < 0 ? 50 : 200)

/**
 * Returns the rows of a long list that are in view. All have the height of the highest one that was rendered, which spares
 * the first page the code of a library that knows the height of each.
 */
export function useVirtualRows(
  list: RefObject<HTMLElement | null>,
  { count, estimate, gap }: { count: number; estimate: number; gap: number },
): VirtualRows {
  const [rowHeight, setRowHeight] = useState(estimate)
  const top = useTop(list)
  const [observer] = useState(
    () =>
      new ResizeObserver((entries) => {
        const highest = Math.max(
          ...entries.map(({ target }) => Math.ceil(target.getBoundingClientRect().height)),
        )
        setRowHeight((before) => Math.max(before, highest))
      }),
  )
  useEffect(() => {
    // Where there is more room, rows may be lower.
    const reset = () => setRowHeight(estimate)
    addEventListener('resize', reset)
    return () => removeEventListener('resize', reset)
  }, [estimate])
  const [measure] = useState(() => (element: HTMLElement) => {
    observer.observe(element)
    return () => observer.unobserve(element)
  })
  const step = rowHeight + gap
  const margin = useMargin()
  const end = top + innerHeight + margin + rangeStepAt(top)
  const first = Math.min(Math.floor(Math.max(0, top - margin) / step), Math.max(0, count - 1))
  const last = Math.min(count - 1, Math.max(0, Math.ceil(end / step)))
  return {
    rowHeight,
    height: Math.max(0, count * step - gap),
    measure: measure as RefCallback<HTMLElement>,
    rows: Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => ({
      index: first + at,
      offset: (first + at) * step,
    })),
  }
}

/** Returns how much is rendered around the window: nothing at first, so that what is in view is there early. */
function useMargin(): number {
  const [margin, setMargin] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setMargin(overscan), overscanDelayMs)
    return () => clearTimeout(timer)
  }, [])
  return margin
}

/** Returns where the window begins, in pixels from the top of the list; negative where the list begins in the window. */
function useTop(list: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(-likelyStart)
  useLayoutEffect(() => {
    const update = () => {
      const above = -(list.current?.getBoundingClientRect().top ?? 0)
      setTop(Math.floor(above / rangeStepAt(above)) * rangeStepAt(above))
    }
    update()
    const observer = new ResizeObserver(update)
    observer.observe(document.body)
    addEventListener('scroll', update, { passive: true })
    return () => {
      observer.disconnect()
      removeEventListener('scroll', update)
    }
  }, [list])
  return top
}
