import {
  cloneElement,
  type KeyboardEvent,
  lazy,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
} from 'react'
import { Suspense, useEffect, useState } from 'react'
import type * as Parts from './lazy-menu.tsx'

// The code of menus is loaded once the page that has one is idle, so that the first menu opens at once.
const load = () => import('./lazy-menu.tsx')
const preload = () => void load().catch(() => undefined)
/** How long a page may be busy before the code is loaded all the same. */
const maxIdleWaitMs = 3000

/** Loads the code of menus when the browser has nothing else to do. */
function preloadWhenIdle(): (() => void) | undefined {
  // Safari has no such callback; there the pointer or the focus on a trigger loads the code.
  if (!('requestIdleCallback' in window)) return undefined
  const handle = requestIdleCallback(preload, { timeout: maxIdleWaitMs })
  return () => cancelIdleCallback(handle)
}

const LazyMenu = lazy(async () => ({ default: (await load()).LazyMenu }))

type TriggerProps = {
  'aria-haspopup'?: 'menu'
  'aria-expanded'?: boolean
  onClick?: (event: MouseEvent) => void
  onKeyDown?: (event: KeyboardEvent) => void
  onPointerEnter?: () => void
  onFocus?: () => void
}

/** A menu behind a trigger, which must be one focusable element. */
export function Menu({
  trigger,
  align = 'end',
  children,
}: {
  trigger: ReactElement<TriggerProps>
  align?: 'start' | 'end'
  children: ReactNode
}) {
  const [openedBy, setOpenedBy] = useState<'pointer' | 'keyboard' | null>(null)
  useEffect(preloadWhenIdle, [])
  const closedTrigger = cloneElement(trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: preload,
    onFocus: preload,
    // A click by keyboard has a detail of 0.
    onClick: ({ detail }) => setOpenedBy(detail === 0 ? 'keyboard' : 'pointer'),
    onKeyDown: (event) => {
      if (event.key !== 'ArrowDown') return
      event.preventDefault()
      setOpenedBy('keyboard')
    },
  })
  if (openedBy === null) return closedTrigger
  return (
    <Suspense fallback={closedTrigger}>
      <LazyMenu trigger={trigger} align={align} isOpenedByKeyboard={openedBy === 'keyboard'}>
        {children}
      </LazyMenu>
    </Suspense>
  )
}

export const MenuItem = lazy(async () => ({ default: (await load()).MenuItem }))
/** A link as a menu item; the child is the anchor. */
export const MenuLink = lazy(async () => ({ default: (await load()).MenuLink }))
/** An item that is on or off; choosing it keeps the menu open. */
export const MenuCheck = lazy(async () => ({ default: (await load()).MenuCheck }))
/** A group of choices, one of which is selected. */
export const MenuChoices = lazy(async () => ({
  default: (await load()).MenuChoices,
})) as unknown as typeof Parts.MenuChoices
export const MenuSeparator = lazy(async () => ({ default: (await load()).MenuSeparator }))
