import { Check, type LucideIcon } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import { type ReactNode, Suspense, useEffect, useRef } from 'react'
import { classNames } from './class-names.ts'

const content =
  'z-50 max-h-[70dvh] min-w-48 overflow-y-auto rounded-control border border-line bg-surface p-1 shadow-xl animate-rise'
const item =
  'flex min-h-9 cursor-default items-center gap-2.5 rounded-[0.375rem] px-2.5 text-sm outline-none select-none data-disabled:opacity-50 data-highlighted:bg-raised'

type LazyMenuProps = {
  trigger: ReactNode
  align: 'start' | 'end'
  /** Whether to focus the first item at once. */
  isOpenedByKeyboard: boolean
  children: ReactNode
}

/** The menu itself; rendered from its first opening on. */
export function LazyMenu({ trigger, align, isOpenedByKeyboard, children }: LazyMenuProps) {
  const isFirstFocus = useRef(isOpenedByKeyboard)
  const menu = useRef<HTMLDivElement>(null)
  const focusFirst = () => {
    if (!isFirstFocus.current || document.activeElement !== menu.current) return
    const first = menu.current?.querySelector<HTMLElement>('[role^=menuitem]:not([data-disabled])')
    if (!first) return
    isFirstFocus.current = false
    first.focus()
  }
  return (
    <Radix.Root modal={false} defaultOpen>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          ref={menu}
          align={align}
          sideOffset={6}
          collisionPadding={8}
          onFocus={focusFirst}
          className={content}
        >
          <Suspense>
            {children}
            <WhenShown run={focusFirst} />
          </Suspense>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Runs something once its neighbours are shown, whose code may come later than the menu. */
function WhenShown({ run }: { run: () => void }) {
  useEffect(run)
  return null
}

type MenuItemProps = {
  icon?: LucideIcon
  danger?: boolean
  disabled?: boolean
  onSelect: () => void
  children: ReactNode
}

export function MenuItem({
  icon: Icon,
  danger = false,
  disabled = false,
  onSelect,
  children,
}: MenuItemProps) {
  return (
    <Radix.Item disabled={disabled} onSelect={onSelect} className={classNames(item, danger && 'text-bad')}>
      {Icon && <Icon aria-hidden className="size-4 shrink-0" />}
      {children}
    </Radix.Item>
  )
}

/** A link as a menu item; the child is the anchor. */
export const MenuLink = ({ children }: { children: ReactNode }) => (
  <Radix.Item asChild className={item}>
    {children}
  </Radix.Item>
)

/** An item that is on or off; choosing it keeps the menu open. */
export const MenuCheck = ({
  checked,
  onChange,
  children,
}: {
  checked: boolean
  onChange: (checked: boolean) => void
  children: ReactNode
}) => (
  <Radix.CheckboxItem
    checked={checked}
    onCheckedChange={onChange}
    onSelect={(event) => event.preventDefault()}
    className={item}
  >
    <Check aria-hidden className={classNames('size-4 shrink-0', !checked && 'invisible')} />
    {children}
  </Radix.CheckboxItem>
)

/** A group of choices, one of which is selected. */
export function MenuChoices<Value extends string>({
  label,
  value,
  onChange,
  choices,
}: {
  label: string
  value: Value
  onChange: (value: Value) => void
  choices: readonly (readonly [value: Value, text: string])[]
}) {
  return (
    <>
      <Radix.Label className="px-2.5 py-1 text-xs font-medium text-muted">{label}</Radix.Label>
      <Radix.RadioGroup value={value} onValueChange={(next) => onChange(next as Value)}>
        {choices.map(([choice, text]) => (
          <Radix.RadioItem
            key={choice}
            value={choice}
            className={classNames(
              item,
              'data-[state=checked]:font-semibold data-[state=checked]:text-brand-text',
            )}
          >
            {text}
          </Radix.RadioItem>
        ))}
      </Radix.RadioGroup>
    </>
  )
}

export const MenuSeparator = () => <Radix.Separator className="my-1 h-px bg-line" />
