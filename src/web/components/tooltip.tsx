import { useEffect, useLayoutEffect, useRef, useState } from 'react'

/** How long an element is hovered before its tooltip shows. */
const showDelayMs = 400
/** Distance to the element and to the edges of the window. */
const gapPx = 6

type TooltipState = { text: string; rect: DOMRect }

/** Shows the text of `data-tooltip` beside the hovered or focused element; Escape and any other action hide it. */
export function Tooltips() {
  const [shown, setShown] = useState<TooltipState | null>(null)
  useEffect(() => listenForTooltips(setShown), [])
  return shown && <Tooltip {...shown} />
}

const tooltipOwner = (event: Event) =>
  event.target instanceof Element ? event.target.closest<HTMLElement>('[data-tooltip]') : null

function listenForTooltips(show: (shown: TooltipState | null) => void): () => void {
  let timer = 0
  let hovered: HTMLElement | null = null
  const showAt = (element: HTMLElement) => {
    // An open menu covers what its trigger would say.
    if (!element.isConnected || element.getAttribute('aria-expanded') === 'true') return
    show({ text: element.dataset.tooltip ?? '', rect: element.getBoundingClientRect() })
  }
  const hide = () => {
    clearTimeout(timer)
    show(null)
  }
  const listeners: Record<string, (event: Event) => void> = {
    pointerover: (event) => {
      const isOnText = event.target instanceof Element && event.target.matches('.tooltip')
      const element = tooltipOwner(event)
      if (isOnText || element === hovered || (event as PointerEvent).pointerType === 'touch') return
      hovered = element
      hide()
      if (element) timer = window.setTimeout(() => showAt(element), showDelayMs)
    },
    focusin: (event) => {
      const element = tooltipOwner(event)
      if (element?.matches(':focus-visible')) showAt(element)
    },
    focusout: hide,
    pointerdown: hide,
    keydown: hide,
    scroll: hide,
  }
  const abort = new AbortController()
  for (const [name, listener] of Object.entries(listeners)) {
    document.addEventListener(name, listener, { capture: true, passive: true, signal: abort.signal })
  }
  return () => {
    clearTimeout(timer)
    abort.abort()
  }
}

/**
 * Placed above the element, or below when there is no room. Hidden from screen readers, which read the label
 * instead.
 */
function Tooltip({ text, rect }: TooltipState) {
  const box = useRef<HTMLDivElement>(null)
  const [position, setPosition] = useState({ top: 0, left: 0 })
  useLayoutEffect(() => {
    const { width, height } = box.current?.getBoundingClientRect() ?? { width: 0, height: 0 }
    const above = rect.top - height - gapPx
    const left = rect.left + (rect.width - width) / 2
    const maxLeft = document.documentElement.clientWidth - width - gapPx
    setPosition({
      top: above < gapPx ? rect.bottom + gapPx : above,
      left: Math.max(gapPx, Math.min(left, maxLeft)),
    })
  }, [rect, text])
  return (
    <div
      ref={box}
      aria-hidden
      style={position}
      className="tooltip fixed z-60 max-w-xs rounded-control bg-ink px-2.5 py-1.5 text-xs text-canvas shadow-lg"
    >
      {text}
    </div>
  )
}
