import type { ReactNode } from 'react'

/** What can be done with a whole resource, each with its own explanation. */
export const ActionRows = ({ children }: { children: ReactNode }) => (
  <ul className="divide-y divide-line rounded-card border border-line bg-surface">{children}</ul>
)

export const ActionRow = ({
  title,
  text,
  children,
}: {
  title: string
  text: string
  children: ReactNode
}) => (
  <li className="flex flex-wrap items-center justify-between gap-3 p-4">
    <div className="max-w-prose min-w-0">
      <h2 className="font-medium">{title}</h2>
      <p className="mt-0.5 text-sm text-muted">{text}</p>
    </div>
    {children}
  </li>
)
