import { Suspense } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { NotFound } from '../app/route-states.tsx'
import { pageStyle, SideNav, widePageStyle } from '../app/side-nav.tsx'
import { Skeleton } from '../components/states.tsx'
import { findAdminPage, listNavPages } from './pages.ts'

/** The lists with more columns than most. */
const wideLists = new Set(['servers', 'nodes', 'users', 'activity', 'jobs'])

/** The area of administrators: its navigation, and the page of a path below `/admin/`. */
export function AdminArea({ path }: { path: string }) {
  const found = findAdminPage(path)
  return (
    <div className="flex min-w-0 flex-1">
      {/* The set-up has steps of its own. */}
      {path.split('/')[0] !== 'setup' && <AdminNav path={path} />}
      <main id="content" tabIndex={-1} className={wideLists.has(path) ? widePageStyle : pageStyle}>
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
  const section = path.split('/')[0] ?? ''
  const groups = [...Map.groupBy(listNavPages(), ({ group }) => group)].map(([group, pages]) => ({
    title: t(`nav.group_${group}`),
    entries: pages.map(({ path: to, name, icon }) => ({
      to: '/admin/$',
      params: { _splat: to },
      icon,
      text: t(`nav.${name}`),
      isCurrent: to === section,
    })),
  }))
  return <SideNav label={t('nav.label')} groups={groups} />
}
