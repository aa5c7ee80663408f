import { Link, useLocation } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import { useEffect, useRef } from 'react'

export type NavEntry = {
  to: string
  params?: Record<string, string>
  icon: LucideIcon
  text: string
  exact?: boolean
  /** Whether the page shown belongs to this entry though its address does not say so. */
  isCurrent?: boolean
}

const current = { className: 'bg-brand-soft text-brand-text', 'aria-current': 'page' } as const
const other = { className: 'text-muted hover:bg-raised hover:text-ink' }

/** Scrolls the row so that the current page is visible. */
function scrollToCurrent(row: HTMLUListElement | null): void {
  const current = row?.querySelector<HTMLElement>('[aria-current="page"]')
  if (row && current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.clientWidth) / 2
}

/** Navigation within a server or the account: a column on the side, on phones a scrolling row. */
export function SideNav({ label, entries }: { label: string; entries: NavEntry[] }) {
  const row = useRef<HTMLUListElement>(null)
  const { pathname } = useLocation()
  useEffect(() => scrollToCurrent(row.current), [pathname])
  return (
    <nav aria-label={label} className="min-w-0 lg:w-52 lg:shrink-0">
      <ul
        ref={row}
        className="relative flex gap-1 overflow-x-auto p-1 lg:sticky lg:top-16 lg:flex-col lg:overflow-visible"
      >
        {entries.map(({ to, params, icon: Icon, text, exact, isCurrent }) => (
          <li key={text} className="shrink-0">
            <Link
              to={to as '/'}
              params={params as never}
              activeOptions={{ exact: exact ?? false }}
              activeProps={current}
              inactiveProps={isCurrent ? current : other}
              className="flex min-h-9 items-center gap-2.5 rounded-control px-3 text-sm font-medium whitespace-nowrap"
            >
              <Icon aria-hidden className="size-4 shrink-0" />
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
