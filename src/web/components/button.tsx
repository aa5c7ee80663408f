import { LoaderCircle, type LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { classNames } from './class-names.ts'

type Variant = 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-plain'

const base =
  'inline-flex min-h-9 items-center justify-center gap-2 rounded-control text-sm font-medium select-none transition-colors disabled:opacity-55 disabled:cursor-not-allowed aria-disabled:opacity-55'

const variants: Record<Variant, string> = {
  primary: 'bg-brand text-brand-ink enabled:hover:bg-brand-strong',
  plain: 'border border-line bg-surface text-ink enabled:hover:bg-raised',
  quiet: 'text-ink enabled:hover:bg-raised',
  danger: 'bg-bad-strong text-white enabled:hover:brightness-90',
  'danger-plain':
    'border border-line bg-surface text-bad enabled:hover:border-bad enabled:hover:bg-bad-soft disabled:text-muted',
}

/** Returns the class names of a button, for links that look like one. */
export const buttonStyle = (variant: Variant = 'plain') => classNames(base, variants[variant], 'px-3')

type ButtonProps = ComponentProps<'button'> & {
  variant?: Variant
  icon?: LucideIcon
  /** Shows a spinner and disables the button while a request is running. */
  busy?: boolean
}

export function Button({
  variant = 'plain',
  icon: Icon,
  busy = false,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classNames(buttonStyle(variant), className)}
    >
      {busy ? (
        <LoaderCircle aria-hidden className="size-4 animate-spin" />
      ) : (
        Icon && <Icon aria-hidden className="size-4 shrink-0" />
      )}
      {children}
    </button>
  )
}

type IconButtonProps = Omit<ButtonProps, 'children' | 'icon'> & { icon: LucideIcon; label: string }

/** A button with an icon; its label is the accessible name and the tooltip. */
export function IconButton({
  icon: Icon,
  label,
  variant = 'quiet',
  busy,
  className,
  disabled,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-label={label}
      data-tooltip={label}
      aria-busy={busy || undefined}
      className={classNames(base, variants[variant], 'size-9 shrink-0', className)}
    >
      {busy ? (
        <LoaderCircle aria-hidden className="size-4 animate-spin" />
      ) : (
        <Icon aria-hidden className="size-4" />
      )}
    </button>
  )
}
