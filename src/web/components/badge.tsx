import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { type Shape, StatusShape } from './status-shape.tsx'

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'brand'

const tones: Record<Tone, string> = {
  plain: 'bg-raised text-muted',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  brand: 'bg-brand-soft text-brand-text',
}

/** The shape of each tone that says how something is, so that a state is never told by its colour alone. */
const shapes: Partial<Record<Tone, Shape>> = { good: 'disc', warn: 'diamond', bad: 'triangle', info: 'half' }

/** A short label for a state, with the shape of its tone unless another is given; null for none. */
export const Badge = ({
  tone = 'plain',
  shape = shapes[tone] ?? null,
  children,
}: {
  tone?: Tone
  shape?: Shape | null
  children: ReactNode
}) => (
  <span
    className={classNames(
      'inline-flex items-center gap-1.5 rounded-full px-2.5 py-0.5 text-xs font-medium whitespace-nowrap transition-colors',
      tones[tone],
    )}
  >
    {shape && <StatusShape key={shape} shape={shape} />}
    {children}
  </span>
)

/** A message across the page, with actions. */
export function Banner({
  tone,
  title,
  children,
  actions,
}: {
  tone: Tone
  title: string
  children?: ReactNode
  actions?: ReactNode
}) {
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={classNames(
        'flex flex-wrap items-center justify-between gap-3 rounded-card px-4 py-3 text-sm',
        tones[tone],
      )}
    >
      <div className="min-w-0">
        <p className="font-semibold">{title}</p>
        {children && <div className="mt-0.5">{children}</div>}
      </div>
      {actions}
    </div>
  )
}
