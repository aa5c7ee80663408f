import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

/** A section of a page with its own heading. */
export function Card({
  title,
  text,
  actions,
  className,
  children,
}: {
  title?: string
  text?: ReactNode
  actions?: ReactNode
  className?: string
  children?: ReactNode
}) {
  return (
    <section
      className={classNames('min-w-0 rounded-card border border-line bg-surface', className)}
      {...(title ? { 'aria-label': title } : {})}
    >
      {title && (
        <header className="flex flex-wrap items-start justify-between gap-3 px-4 pt-4 sm:px-5">
          <div className="min-w-0">
            <h2 className="text-base font-semibold">{title}</h2>
            {text && <p className="mt-0.5 text-sm text-muted">{text}</p>}
          </div>
          {actions}
        </header>
      )}
      <div className="p-4 has-[>:only-child:empty]:pt-0 sm:p-5">{children}</div>
    </section>
  )
}

/** The title of a page with its actions. */
export function PageHeader({
  title,
  text,
  actions,
}: {
  title: string
  text?: ReactNode
  actions?: ReactNode
}) {
  return (
    <header className="flex flex-wrap items-center justify-between gap-3 pb-4">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight wrap-anywhere">{title}</h1>
        {text && <p className="mt-0.5 text-sm text-muted">{text}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  )
}

/** A framed list with a divider between rows. */
export const RowList = ({ label, children }: { label: string; children: ReactNode }) => (
  <ul
    aria-label={label}
    className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface"
  >
    {children}
  </ul>
)
