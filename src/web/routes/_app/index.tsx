import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { SearchX, Server as ServerIcon } from 'lucide-react'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Announcements } from '../../announcements/announcements.tsx'
import { rowsOf } from '../../api/resources.ts'
import { resourcesQuery, type ServerPage, serversQuery } from '../../api/servers.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { site } from '../../app/site.ts'
import { useStoredChoice } from '../../app/use-stored-choice.ts'
import { useIsWide } from '../../app/use-is-wide.ts'
import { Button } from '../../components/button.tsx'
import { PageHeader } from '../../components/card.tsx'
import { Pager } from '../../components/pager.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { type HomeSearch, readHomeSearch, serverSorts, type Sort } from '../../home/home-search.ts'
import { type HomeChange, HomeTools, type View, views } from '../../home/home-tools.tsx'
import { ServerCards } from '../../home/server-cards.tsx'
import { ServerTable } from '../../home/server-table.tsx'
import { listServers } from '../../home/listed-server.ts'
import { ServersSkeleton } from '../../home/servers-skeleton.tsx'

/** Of the usage the panel knows nothing: that order is one of the page alone. */
const isOfPage = (sort: Sort): sort is 'cpu' | 'memory' => sort === 'cpu' || sort === 'memory'

const queryOf = ({ scope = 'accessible', q = '', sort = 'listed', ...rest }: HomeSearch) =>
  serversQuery({
    ...rest,
    scope,
    search: q,
    ...(sort === 'listed' || isOfPage(sort) ? {} : { sort: serverSorts[sort] }),
  })

export const Route = createFileRoute('/_app/')({
  validateSearch: readHomeSearch,
  loaderDeps: ({ search }) => search,
  // The page renders at once; the list shows a skeleton until the servers are there.
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(queryOf(deps)),
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
  const servers = useQuery(queryOf(search))
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
            ? t('strings:amount.servers', { count: servers.data.meta.pagination.total })
            : t('strings:loading')
        }
      />
      <HomeTools
        search={search}
        nodes={servers.data ? rowsOf(servers.data).map(({ node }) => node) : []}
        onChange={change}
        view={view}
        onViewChange={setView}
      />
      <Loaded query={servers} skeleton={<ServersSkeleton view={view} />}>
        {(page) =>
          page.data.length === 0 ? (
            <NoServers search={search} onChange={change} />
          ) : (
            <ServerList
              page={page}
              search={search}
              view={view}
              onPage={(number) => change({ page: number })}
            />
          )
        }
      </Loaded>
    </main>
  )
}

function ServerList({
  page,
  search,
  view,
  onPage,
}: {
  page: ServerPage
  search: HomeSearch
  view: View
  onPage: (page: number) => void
}) {
  const { t } = useTranslation('home')
  const rows = useMemo(() => rowsOf(page), [page])
  const resources = useQuery(resourcesQuery(rows.map(({ uuid }) => uuid)))
  const shown = listServers(rows, resources.data, search.sort ?? 'listed')
  const { pagination } = page.meta
  return (
    <>
      {view === 'table' ? <ServerTable servers={shown} /> : <ServerCards servers={shown} />}
      <Pager pagination={pagination} onPage={onPage} />
      {pagination.total_pages > 1 && isOfPage(search.sort ?? 'listed') && (
        <p className="text-center text-xs text-muted">{t('sort.within_page')}</p>
      )}
    </>
  )
}

function NoServers({ search, onChange }: { search: HomeSearch; onChange: (change: HomeChange) => void }) {
  const { t } = useTranslation('home')
  if (search.q || search.state || search.node) {
    return (
      <EmptyState icon={SearchX} title={t('nothing_found')} text={t('nothing_found_text')}>
        <Button onClick={() => onChange({ q: undefined, state: undefined, node: undefined })}>
          {t('clear_search')}
        </Button>
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
