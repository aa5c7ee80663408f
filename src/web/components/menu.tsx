import {
  cloneElement,
  type KeyboardEvent,
  lazy,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
} from 'react'
import { Suspense, useState } from 'react'
import type * as Parts from './lazy-menu.tsx'

// Most pages have menus that are rarely opened, so their code is loaded shortly before the first one opens.
const load = () => import('./lazy-menu.tsx')
const preload = () => void load().catch(() => undefined)

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
