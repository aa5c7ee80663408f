import { Suspense, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { NotFound } from '../app/route-states.tsx'
import { Skeleton } from '../components/states.tsx'
import { classNames } from '../components/class-names.ts'
import { AdminLink } from './admin-link.tsx'
import { findAdminPage, listNavPages } from './pages.ts'

/** The area of administrators: its navigation, and the page of a path below `/admin/`. */
export function AdminArea({ path }: { path: string }) {
  const found = findAdminPage(path)
  return (
    <div className="mx-auto flex w-full max-w-7xl min-w-0 flex-1 flex-col gap-4 p-4 lg:flex-row lg:gap-8">
      {/* The set-up has steps of its own. */}
      {path.split('/')[0] !== 'setup' && <AdminNav path={path} />}
      <main id="content" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        {found ? (
          <Suspense fallback={<Skeleton rows={6} />}>
            <found.component key={JSON.stringify(found.params)} params={found.params} />
          </Suspense>
        ) : (
          <NotFound />
        )}
      </main>
    </div>
  )
}

function AdminNav({ path }: { path: string }) {
  const { t } = useTranslation('admin')
  const nav = useRef<HTMLElement>(null)
  const section = path.split('/')[0] ?? ''
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - nav.current.clientWidth / 3
  }, [section])
  return (
    <nav
      ref={nav}
      aria-label={t('nav.label')}
      className="relative min-w-0 overflow-x-auto lg:w-52 lg:shrink-0 lg:overflow-visible"
    >
      <div className="flex gap-1 p-1 lg:sticky lg:top-16 lg:flex-col">
        {[...Map.groupBy(listNavPages(), ({ group }) => group)].map(([group, pages]) => (
          <section key={group} aria-label={t(`nav.group_${group}`)} className="contents lg:block lg:pb-3">
            <h2 className="hidden px-3 pb-1 text-xs font-medium text-muted lg:block">
              {t(`nav.group_${group}`)}
            </h2>
            <ul className="contents lg:flex lg:flex-col lg:gap-0.5">
              {pages.map(({ path: to, name, icon: Icon }) => (
                <li key={to} className="shrink-0">
                  <AdminLink
                    to={to}
                    aria-current={to === section ? 'page' : undefined}
                    className={classNames(
                      'flex min-h-9 items-center gap-2.5 rounded-control px-3 text-sm font-medium whitespace-nowrap',
                      to === section
                        ? 'bg-brand-soft text-brand-text'
                        : 'text-muted hover:bg-raised hover:text-ink',
                    )}
                  >
                    <Icon aria-hidden className="size-4 shrink-0" />
                    {t(`nav.${name}`)}
                  </AdminLink>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  )
}
