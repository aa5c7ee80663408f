import type { NavGroup } from './nav-entries.ts'
import { NavLink } from './nav-link.tsx'

const navLinkStyle =
  'flex min-h-9 items-center gap-2.5 rounded-control px-3 text-sm font-medium text-muted transition-colors hover:bg-raised hover:text-ink aria-[current=page]:bg-brand-soft aria-[current=page]:text-brand-text'

/** The entries below the titles of their groups. */
export const NavGroups = ({ groups, onNavigate }: { groups: NavGroup[]; onNavigate?: () => void }) => (
  <div className="flex flex-col gap-4">
    {groups
      .filter(({ entries }) => entries.length > 0)
      .map(({ title, entries }) => (
        <div role="group" key={title ?? ''} aria-label={title}>
          {title && (
            <p aria-hidden className="px-3 pb-1 text-xs font-medium text-muted">
              {title}
            </p>
          )}
          <ul className="flex flex-col gap-0.5">
            {entries.map((entry) => (
              <li key={entry.text}>
                <NavLink entry={entry} onClick={onNavigate} className={navLinkStyle}>
                  <entry.icon aria-hidden className="size-4 shrink-0" />
                  <span className="min-w-0 truncate">{entry.text}</span>
                </NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
  </div>
)
