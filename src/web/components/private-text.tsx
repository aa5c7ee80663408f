import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { useBlur } from '../app/privacy.ts'
import { classNames } from './class-names.ts'

/** The same length for every text. */
const mask = '•'.repeat(8)

type PrivateTextProps = {
  text: string
  className?: string
  /** Set inside links and buttons: the text is revealed on hover, and takes no focus of its own. */
  isInsideControl?: boolean
}

/**
 * Shows an address or email. In privacy mode it is masked in the page itself until it is hovered, focused or
 * pressed.
 */
export function PrivateText({ text, className, isInsideControl = false }: PrivateTextProps) {
  const { t } = useTranslation()
  const blur = useBlur()
  const [isRevealed, setRevealed] = useState(false)
  if (!blur) return <span className={className}>{text}</span>
  const reveal = () => setRevealed(true)
  const conceal = () => setRevealed(false)
  const hoverHandlers = { onPointerEnter: reveal, onPointerLeave: conceal }
  const shown = isRevealed ? text : mask
  if (isInsideControl) {
    return (
      <span role="presentation" {...hoverHandlers} className={className}>
        {shown}
      </span>
    )
  }
  return (
    <button
      type="button"
      {...hoverHandlers}
      onFocus={reveal}
      onBlur={conceal}
      onClick={reveal}
      aria-label={isRevealed ? text : t('action.show')}
      className={classNames('rounded-sm text-start select-text', className)}
    >
      {shown}
    </button>
  )
}
