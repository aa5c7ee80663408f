import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useBlur } from '../app/privacy.ts'
import { classNames } from './class-names.ts'

/** As many, whatever is behind them. */
const dots = '•'.repeat(8)

type PrivateTextProps = {
  text: string
  className?: string
  /** Inside a link or button: it is shown when that is pointed at, and takes no focus of its own. */
  within?: boolean
}

/**
 * An address or e-mail. Where the reader wants such data hidden, the page holds dots instead, until they are pointed
 * at, focused or pressed.
 */
export function PrivateText({ text, className, within = false }: PrivateTextProps) {
  const { t } = useTranslation()
  const blur = useBlur()
  const [isOpen, setOpen] = useState(false)
  if (!blur) return <span className={className}>{text}</span>
  const open = () => setOpen(true)
  const close = () => setOpen(false)
  const pointed = { onPointerEnter: open, onPointerLeave: close }
  const shown = isOpen ? text : dots
  if (within) {
    return (
      <span role="presentation" {...pointed} className={className}>
        {shown}
      </span>
    )
  }
  return (
    <button
      type="button"
      {...pointed}
      onFocus={open}
      onBlur={close}
      onClick={open}
      aria-label={isOpen ? text : t('action.show')}
      className={classNames('rounded-sm text-left select-text', className)}
    >
      {shown}
    </button>
  )
}
