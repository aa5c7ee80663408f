import { useEffect, useLayoutEffect, useRef, useState } from 'react'

/** So long something is pointed at before its text is shown, in milliseconds. */
const delay = 400
/** From what is pointed at, and from the edges of the window, in pixels. */
const gap = 6

type Shown = { text: string; rect: DOMRect }

/** Shows the text of `data-tooltip` beside what is pointed at, or focused by keyboard; Escape and all else hide it. */
export function Tooltips() {
  const [shown, setShown] = useState<Shown | null>(null)
  useEffect(() => watch(setShown), [])
  return shown && <Tooltip {...shown} />
}

const labelled = (event: Event) =>
  event.target instanceof Element ? event.target.closest<HTMLElement>('[data-tooltip]') : null

function watch(show: (shown: Shown | null) => void): () => void {
  let timer = 0
  let pointedAt: HTMLElement | null = null
  const showBeside = (element: HTMLElement) => {
    if (!element.isConnected) return
    show({ text: element.dataset.tooltip ?? '', rect: element.getBoundingClientRect() })
  }
  const hide = () => {
    clearTimeout(timer)
    show(null)
  }
  const listeners: Record<string, (event: Event) => void> = {
    pointerover: (event) => {
      const isOnText = event.target instanceof Element && event.target.matches('.tooltip')
      const element = labelled(event)
      if (isOnText || element === pointedAt || (event as PointerEvent).pointerType === 'touch') return
      pointedAt = element
      hide()
      if (element) timer = window.setTimeout(() => showBeside(element), delay)
    },
    focusin: (event) => {
      const element = labelled(event)
      if (element?.matches(':focus-visible')) showBeside(element)
    },
    focusout: hide,
    pointerdown: hide,
    keydown: hide,
    scroll: hide,
  }
  const ending = new AbortController()
  for (const [name, listener] of Object.entries(listeners)) {
    document.addEventListener(name, listener, { capture: true, passive: true, signal: ending.signal })
  }
  return () => {
    clearTimeout(timer)
    ending.abort()
  }
}

/** Above what it speaks of, below where there is no room. Readers of screens know it as the name of its button. */
function Tooltip({ text, rect }: Shown) {
  const box = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ top: 0, left: 0 })
  useLayoutEffect(() => {
    const { width, height } = box.current?.getBoundingClientRect() ?? { width: 0, height: 0 }
    const above = rect.top - height - gap
    const left = rect.left + (rect.width - width) / 2
    const furthest = document.documentElement.clientWidth - width - gap
    setPlace({ top: above < gap ? rect.bottom + gap : above, left: Math.max(gap, Math.min(left, furthest)) })
  }, [rect, text])
  return (
    <div
      ref={box}
      aria-hidden
      style={place}
      className="tooltip fixed z-60 max-w-xs rounded-control bg-ink px-2.5 py-1.5 text-xs text-canvas shadow-lg"
    >
      {text}
    </div>
  )
}
