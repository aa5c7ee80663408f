import { X } from 'lucide-react'
import { AlertDialog, Dialog as Radix } from 'radix-ui'
import { type ReactNode, useRef, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { Button, IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import { FormError, TextField } from './field.tsx'

const overlay = 'fixed inset-0 z-40 bg-black/50'
const panel =
  'fixed inset-x-0 bottom-0 z-50 mx-auto flex animate-rise max-h-[92dvh] w-full flex-col overflow-hidden rounded-t-card border border-line bg-surface shadow-2xl sm:inset-y-0 sm:my-auto sm:h-fit sm:max-h-[85dvh] sm:w-[min(92vw,var(--dialog-width))] sm:rounded-card'
const widths = {
  small: '[--dialog-width:28rem]',
  medium: '[--dialog-width:36rem]',
  large: '[--dialog-width:52rem]',
}

export type DialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  /** Description below the title. */
  text?: ReactNode
  width?: keyof typeof widths
  /** Buttons in the footer. */
  actions?: ReactNode
  /** Shows what is shown once: only one of `actions` closes it, not Escape or a click beside it. */
  isShownOnce?: boolean
  children?: ReactNode
}

/** Returns the element to focus when the dialog closes; for a menu item, the button of its menu, which stays. */
function elementToRefocus(): Element | null {
  const menu = document.activeElement?.closest('[role="menu"]')
  const button = menu && document.getElementById(menu.getAttribute('aria-labelledby') ?? '')
  return button ?? document.activeElement
}

/** Restores the focus when a dialog closes. Radix does so only for its own triggers. */
function useFocusReturn() {
  const opener = useRef<Element | null>(null)
  return {
    onOpenAutoFocus: () => {
      opener.current = elementToRefocus()
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault()
      if (opener.current instanceof HTMLElement) opener.current.focus()
    },
  }
}

const stay = (event: Event) => event.preventDefault()

/** The dialog itself; rendered from its first opening on. */
export function LazyDialog({
  open,
  onOpenChange,
  title,
  text,
  width = 'medium',
  actions,
  isShownOnce = false,
  children,
}: DialogProps) {
  const { t } = useTranslation()
  const focus = useFocusReturn()
  const focusFirstField = (event: Event) => {
    focus.onOpenAutoFocus()
    const field = (event.currentTarget as HTMLElement).querySelector<HTMLElement>('input, select, textarea')
    if (!field) return
    event.preventDefault()
    field.focus()
  }
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={overlay} />
        <Radix.Content
          className={classNames(panel, widths[width])}
          {...focus}
          onOpenAutoFocus={focusFirstField}
          {...(isShownOnce ? { onEscapeKeyDown: stay, onInteractOutside: stay } : {})}
          {...(text ? {} : { 'aria-describedby': undefined })}
        >
          <header className="flex items-start justify-between gap-4 px-5 pt-4">
            <div className="min-w-0">
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {text && <Radix.Description className="mt-1 text-sm text-muted">{text}</Radix.Description>}
            </div>
            {!isShownOnce && (
              <Radix.Close asChild>
                <IconButton icon={X} label={t('action.close')} />
              </Radix.Close>
            )}
          </header>
          <div className="min-h-0 overflow-y-auto px-5 py-4">{children}</div>
          {actions && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line bg-canvas px-5 py-3">
              {actions}
            </footer>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export type ConfirmProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  text: ReactNode
  /** Label of the confirm button. */
  action: string
  onConfirm: () => void
  busy?: boolean
  error?: unknown
  danger?: boolean
  /** Must be typed before the action can be confirmed. */
  confirmationText?: string
  children?: ReactNode
}

/** The confirmation dialog itself; rendered from its first opening on. */
export function LazyConfirmDialog(props: ConfirmProps) {
  const {
    open,
    onOpenChange,
    title,
    text,
    action,
    onConfirm,
    busy = false,
    error,
    danger = true,
    confirmationText,
  } = props
  const { t } = useTranslation()
  const focus = useFocusReturn()
  const [input, setInput] = useState('')
  const change = (next: boolean) => {
    setInput('')
    onOpenChange(next)
  }
  return (
    <AlertDialog.Root open={open} onOpenChange={change}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={overlay} />
        <AlertDialog.Content className={classNames(panel, widths.small)} {...focus}>
          <div className="flex min-h-0 flex-col gap-3 overflow-y-auto p-5">
            <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
            <AlertDialog.Description asChild>
              <div className="text-sm wrap-anywhere text-muted">{text}</div>
            </AlertDialog.Description>
            {props.children}
            {confirmationText !== undefined && (
              <TextField
                label={t('confirm.type', { text: confirmationText })}
                value={input}
                onChange={(event) => setInput(event.target.value)}
                autoComplete="off"
                spellCheck={false}
              />
            )}
            <FormError error={error} />
          </div>
          <footer className="flex flex-wrap justify-end gap-2 border-t border-line bg-canvas px-5 py-3">
            <AlertDialog.Cancel asChild>
              <Button>{t('action.cancel')}</Button>
            </AlertDialog.Cancel>
            <Button
              variant={danger ? 'danger' : 'primary'}
              busy={busy}
              disabled={confirmationText !== undefined && input !== confirmationText}
              onClick={onConfirm}
            >
              {action}
            </Button>
          </footer>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
