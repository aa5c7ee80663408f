import { useLocation } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { useContext, useState } from 'react'
import { createPortal } from 'react-dom'
import { useTranslation } from './use-translation.ts'
import { Dialog } from '../components/dialog.tsx'
import { BottomBarElement } from './bottom-bar-place.tsx'
import { isCurrentEntry, type NavGroup } from './nav-entries.ts'
import { NavLink } from './nav-link.tsx'
import { NavGroups } from './nav-groups.tsx'

/** The page beside the navigation; lists have many columns, and take more of a wide window than forms. */
const page = 'mx-auto w-full min-w-0 flex-1 p-4 outline-none lg:px-6'
export const pageStyle = `${page} max-w-7xl`
export const widePageStyle = `${page} max-w-[100rem]`

/** The column of the navigation, as high as the page. */
export const sideStyle = 'hidden w-56 shrink-0 border-e border-line bg-surface lg:block'

/**
 * Navigation within a server, the account or the administration: a column at the side that stays while its pages
 * change, and on phones a bar at the foot of the window.
 */
export const SideNav = ({ label, groups }: { label: string; groups: NavGroup[] }) => (
  <>
    <div className={sideStyle}>
      <nav
        aria-label={label}
        className="sticky top-14 max-h-[calc(100dvh-3.5rem-var(--tray-height,0px))] overflow-y-auto px-3 py-4"
      >
        <NavGroups groups={groups} />
      </nav>
    </div>
    <BottomBar label={label} groups={groups} />
  </>
)

/** How many entries the bar shows when "More" stands beside them. */
const maxShown = 4

const itemStyle =
  'flex h-full w-full min-w-0 flex-col items-center justify-center gap-0.5 px-1 text-2xs font-medium text-muted aria-[current]:text-brand-text'

/** Navigation at the foot of a narrow window: the first entries, and all of them behind "More". */
export function BottomBar({ label, groups }: { label: string; groups: NavGroup[] }) {
  const { t } = useTranslation('server')
  const place = useContext(BottomBarElement)
  const { pathname } = useLocation()
  const [isOpen, setOpen] = useState(false)
  if (!place) return null
  const entries = groups.flatMap((group) => group.entries)
  const hasMore = entries.length > maxShown + 1
  const shown = hasMore ? entries.slice(0, maxShown) : entries
  const isAmongMore = !shown.some((entry) => isCurrentEntry(entry, pathname))
  const bar = (
    <nav
      aria-label={label}
      className="border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] shadow-[0_-1px_6px_rgb(0_0_0/0.06)]"
    >
      <ul className="mx-auto flex h-14 max-w-xl items-stretch">
        {shown.map((entry) => (
          <li key={entry.text} className="min-w-0 flex-1">
            <NavLink entry={entry} className={itemStyle}>
              <entry.icon aria-hidden className="size-5 shrink-0" />
              <span className="max-w-full truncate">{entry.short ?? entry.text}</span>
            </NavLink>
          </li>
        ))}
        {hasMore && (
          <li className="min-w-0 flex-1">
            <button
              type="button"
              aria-haspopup="dialog"
              aria-expanded={isOpen}
              aria-current={isAmongMore || undefined}
              onClick={() => setOpen(true)}
              className={itemStyle}
            >
              <Ellipsis aria-hidden className="size-5 shrink-0" />
              <span className="max-w-full truncate">{t('nav.more')}</span>
            </button>
          </li>
        )}
      </ul>
      {hasMore && (
        <Dialog open={isOpen} onOpenChange={setOpen} title={label} width="small">
          <NavGroups groups={groups} onNavigate={() => setOpen(false)} />
        </Dialog>
      )}
    </nav>
  )
  return createPortal(bar, place)
}
