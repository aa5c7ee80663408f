import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { isCurrentEntry, type NavEntry } from './nav-entries.ts'

/** A link of the navigation; says whether it is the current page. */
export function NavLink({
  entry,
  className,
  onClick,
  children,
}: {
  entry: NavEntry
  className: string
  onClick?: (() => void) | undefined
  children: ReactNode
}) {
  const { pathname } = useLocation()
  return (
    <Link
      to={entry.to as '/'}
      params={entry.params as never}
      // Only what the entry says counts: to the router, all pages of administrators are one.
      activeOptions={{ exact: true, includeSearch: true }}
      activeProps={{}}
      aria-current={isCurrentEntry(entry, pathname) ? 'page' : undefined}
      className={className}
      {...(onClick ? { onClick } : {})}
    >
      {children}
    </Link>
  )
}
