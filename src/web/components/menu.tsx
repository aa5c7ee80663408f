import {
  cloneElement,
  type KeyboardEvent,
  lazy,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
} from 'react'
import { Suspense, useState } from 'react'
import type * as Parts from './menu-parts.tsx'

// Most pages have menus, and most of these are never opened: their code comes when one is about to be.
const load = () => import('./menu-parts.tsx')
const preload = () => void load().catch(() => undefined)

const OpenedMenu = lazy(async () => ({ default: (await load()).OpenedMenu }))

type TriggerProps = {
  'aria-haspopup'?: 'menu'
  'aria-expanded'?: boolean
  onClick?: (event: MouseEvent) => void
  onKeyDown?: (event: KeyboardEvent) => void
  onPointerEnter?: () => void
  onFocus?: () => void
}

/** A list of actions behind a button. The trigger must be one element that can be focused. */
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
  const closed = cloneElement(trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: preload,
    onFocus: preload,
    // Keys press a button as nothing that points does: at no place.
    onClick: ({ detail }) => setOpenedBy(detail === 0 ? 'keyboard' : 'pointer'),
    onKeyDown: (event) => {
      if (event.key !== 'ArrowDown') return
      event.preventDefault()
      setOpenedBy('keyboard')
    },
  })
  if (openedBy === null) return closed
  return (
    <Suspense fallback={closed}>
      <OpenedMenu trigger={trigger} align={align} byKeyboard={openedBy === 'keyboard'}>
        {children}
      </OpenedMenu>
    </Suspense>
  )
}

export const MenuItem = lazy(async () => ({ default: (await load()).MenuItem }))
/** A link among actions: the child is the anchor. */
export const MenuLink = lazy(async () => ({ default: (await load()).MenuLink }))
/** One of several, of which one holds. */
export const MenuChoices = lazy(async () => ({
  default: (await load()).MenuChoices,
})) as unknown as typeof Parts.MenuChoices
export const MenuSeparator = lazy(async () => ({ default: (await load()).MenuSeparator }))
