import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { FolderOpen, SearchX, Server as ServerIcon } from 'lucide-react'
import { lazy, Suspense, useEffect } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Announcements } from '../../announcements/announcements.tsx'
import { rowsOf } from '../../api/resources.ts'
import { foldersQuery, summariesQuery } from '../../api/server-list.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { site } from '../../app/site.ts'
import { useStoredChoice } from '../../app/use-stored-choice.ts'
import { useIsWide } from '../../app/use-is-wide.ts'
import { Button } from '../../components/button.tsx'
import { PageHeader } from '../../components/card.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { requestOf } from '../../home/home-request.ts'
import {
  type HomeChange,
  type HomeSearch,
  isFiltered,
  noFilters,
  readHomeSearch,
} from '../../home/home-search.ts'
import { HomeTools, views } from '../../home/home-tools.tsx'
import { PlaceTabs } from '../../home/place-tabs.tsx'
import { ServerList } from '../../home/server-list.tsx'
import { keepList } from '../../offline/last-list.ts'
import { preloadServerMenus } from '../../home/server-menu.tsx'
import { ServersSkeleton } from '../../home/servers-skeleton.tsx'
import { useSelection } from '../../home/use-selection.ts'

/** Until then the page has its data, and its menus are loaded before they are opened. */
const preloadDelayMs = 1500

// Few visits act on several servers.
const BulkBar = lazy(async () => ({ default: (await import('../../home/bulk-bar.tsx')).BulkBar }))

export const Route = createFileRoute('/_app/')({
  validateSearch: readHomeSearch,
  loaderDeps: ({ search }) => search,
  // The page renders at once; the list shows a skeleton until the servers are there.
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchQuery(summariesQuery(requestOf(deps)))
    void context.queryClient.prefetchQuery(foldersQuery)
  },
  component: Home,
})

function Home() {
  const { t } = useTranslation('home')
  usePageTitle(t('title'))
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  const [storedView, setView] = useStoredChoice('roost.home.view', views)
  const isWide = useIsWide()
  const view = isWide ? storedView : 'cards'
  const request = requestOf(search)
  const servers = useQuery(summariesQuery(request))
  const selection = useSelection()
  const hasNone = servers.data?.meta.pagination.total === 0 && showsEverything(search)
  useEffect(() => {
    const timer = setTimeout(preloadServerMenus, preloadDelayMs)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    if (servers.data && !servers.isPlaceholderData) keepList(requestOf(search), servers.data)
  }, [search, servers.data, servers.isPlaceholderData])
  const change = (next: object) =>
    void navigate({ search: (before) => readHomeSearch({ ...before, ...next }), replace: true })
  return (
    <main id="content" tabIndex={-1} className="mx-auto w-full max-w-7xl flex-1 p-4 outline-none">
      <div className="mb-4 empty:mb-0">
        <Announcements />
      </div>
      <PageHeader
        title={t('title')}
        text={
          servers.data
            ? !hasNone && t('strings:amount.servers', { count: servers.data.meta.pagination.total })
            : !servers.isError && t('strings:loading')
        }
      />
      {!hasNone && (
        <>
          <PlaceTabs place={search.place} onPlace={(place) => change({ place })} />
          <HomeTools
            search={search}
            servers={servers.data ? rowsOf(servers.data) : []}
            hasMore={(servers.data?.meta.pagination.total_pages ?? 1) > 1}
            onChange={change}
            view={view}
            onViewChange={setView}
            selection={selection}
          />
        </>
      )}
      <Loaded query={servers} skeleton={<ServersSkeleton view={view} />}>
        {({ meta: { pagination } }) =>
          pagination.total === 0 ? (
            <NoServers search={search} onChange={change} />
          ) : (
            <ServerList request={request} total={pagination.total} view={view} selection={selection} />
          )
        }
      </Loaded>
      {selection.isActive && (
        <Suspense>
          <BulkBar selection={selection} request={request} />
        </Suspense>
      )}
    </main>
  )
}

/** Whether the list has all servers that the user can see: when there are none, there is nothing to search or arrange. */
const showsEverything = (search: HomeSearch): boolean =>
  !site.user?.root_admin && !isFiltered(search) && search.place === undefined && search.scope === undefined

function NoServers({ search, onChange }: { search: HomeSearch; onChange: (change: HomeChange) => void }) {
  const { t } = useTranslation('home')
  if (isFiltered(search)) {
    return (
      <EmptyState icon={SearchX} title={t('nothing_found')} text={t('nothing_found_text')}>
        <Button onClick={() => onChange(noFilters)}>{t('clear_search')}</Button>
      </EmptyState>
    )
  }
  if (search.place !== undefined) {
    const kind = search.place === 'favourites' ? 'favourites' : 'folder'
    return (
      <EmptyState icon={FolderOpen} title={t(`place.empty_${kind}`)} text={t(`place.empty_${kind}_text`)}>
        <Button onClick={() => onChange({ place: undefined })}>{t('place.show_all')}</Button>
      </EmptyState>
    )
  }
  const isOffered = site.user?.root_admin && search.scope !== 'admin-all'
  return (
    <EmptyState icon={ServerIcon} title={t('empty')} text={isOffered ? t('empty_admin') : t('empty_text')}>
      {isOffered && (
        <Button variant="primary" onClick={() => onChange({ scope: 'admin-all' })}>
          {t('scope.admin-all')}
        </Button>
      )}
    </EmptyState>
  )
}
