import { LoaderCircle, type LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { classNames } from './class-names.ts'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'

const base =
  'inline-flex min-h-9 items-center justify-center gap-2 rounded-control text-sm font-medium select-none transition-colors disabled:opacity-55 disabled:cursor-not-allowed aria-disabled:opacity-55'

const looks: Record<Look, string> = {
  primary: 'bg-brand text-brand-ink enabled:hover:brightness-110',
  plain: 'border border-line bg-surface text-ink enabled:hover:bg-raised',
  quiet: 'text-ink enabled:hover:bg-raised',
  danger: 'bg-bad-strong text-white enabled:hover:brightness-110',
}

/** For links that look like buttons. */
export const buttonStyle = (look: Look = 'plain') => classNames(base, looks[look], 'px-3')

type ButtonProps = ComponentProps<'button'> & {
  look?: Look
  icon?: LucideIcon
  /** Something is under way: it cannot be pressed again, and says so. */
  busy?: boolean
}

export function Button({
  look = 'plain',
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
      className={classNames(buttonStyle(look), className)}
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

/** A button that is only a picture: its label is read out, and shown when it is pointed at. */
export function IconButton({
  icon: Icon,
  label,
  look = 'quiet',
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
      className={classNames(base, looks[look], 'size-9 shrink-0', className)}
    >
      {busy ? (
        <LoaderCircle aria-hidden className="size-4 animate-spin" />
      ) : (
        <Icon aria-hidden className="size-4" />
      )}
    </button>
  )
}
