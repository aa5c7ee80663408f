import {
  cloneElement,
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useState,
} from 'react'
import type * as Parts from './lazy-menu.tsx'

// The code of menus is loaded once the page that has one is idle, so that the first menu opens at once.
let parts: typeof Parts | null = null
let isPlanned = false
const load = async () => (parts ??= await import('./lazy-menu.tsx'))
const preload = () => void load().catch(() => undefined)
/** How long a page may be busy before the code is loaded all the same. */
const maxIdleWaitMs = 3000

/** Loads the code of menus when the browser has nothing else to do; once, however many menus a page has. */
function preloadWhenIdle(): void {
  // Safari has no such callback; there the pointer or the focus on a trigger loads the code.
  if (isPlanned || !('requestIdleCallback' in window)) return
  isPlanned = true
  requestIdleCallback(preload, { timeout: maxIdleWaitMs })
}

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
  const openBy = (input: 'pointer' | 'keyboard') =>
    void load().then(
      () => setOpenedBy(input),
      (error: unknown) =>
        // Shown by the nearest boundary.
        setOpenedBy(() => {
          throw error
        }),
    )
  if (openedBy !== null && parts) {
    return (
      <parts.LazyMenu trigger={trigger} align={align} isOpenedByKeyboard={openedBy === 'keyboard'}>
        {children}
      </parts.LazyMenu>
    )
  }
  return cloneElement(trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: preload,
    onFocus: preload,
    // A click by keyboard has a detail of 0.
    onClick: ({ detail }) => openBy(detail === 0 ? 'keyboard' : 'pointer'),
    onKeyDown: (event) => {
      if (event.key !== 'ArrowDown') return
      event.preventDefault()
      openBy('keyboard')
    },
  })
}

/** Returns the code of menus, which is there as soon as a menu shows its items. */
function loadedParts(): typeof Parts {
  if (!parts) throw new Error('An item of a menu stands outside of one.')
  return parts
}

/** An action of a menu. */
export const MenuItem = (props: ComponentProps<typeof Parts.MenuItem>) => loadedParts().MenuItem(props)
/** A link as a menu item; the child is the anchor. */
export const MenuLink = (props: ComponentProps<typeof Parts.MenuLink>) => loadedParts().MenuLink(props)
/** An item that is on or off; choosing it keeps the menu open. */
export const MenuCheck = (props: ComponentProps<typeof Parts.MenuCheck>) => loadedParts().MenuCheck(props)
/** A group of choices, one of which is selected. */
export const MenuChoices = <Value extends string>(props: Parameters<typeof Parts.MenuChoices<Value>>[0]) =>
  loadedParts().MenuChoices(props)
export const MenuSeparator = () => loadedParts().MenuSeparator()
