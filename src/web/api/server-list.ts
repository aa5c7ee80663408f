import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../app/use-translation.ts'
import type { ServerFolderResource } from '../../surfaces/client/resources/server-folder.ts'
import type { ServerSummaryResource } from '../../surfaces/client/resources/server-summary.ts'
import { toastError } from '../components/toast.tsx'
import { recallList } from '../offline/last-list.ts'
import { abortedBy, clientApi, done, json } from './client.ts'
import { type AttributesOf, attributesOf, type PageOf, rowsOf } from './resources.ts'
import type { Scope } from './servers.ts'

/** What lists show of a server. */
export type ServerSummary = AttributesOf<typeof ServerSummaryResource>
export type ServerFolder = AttributesOf<typeof ServerFolderResource>
export type SummaryPage = PageOf<ServerSummary>

/** Servers of a page of the list. */
export const summariesPerPage = 100

/** Which servers are listed, and in which order. */
export type SummaryRequest = {
  scope: Scope
  search?: string
  uuid?: string
  state?: string
  node?: string
  egg?: string
  owner?: string
  isFavourite?: boolean
  folder?: number
  sort?: string
}

/** One page of the servers in a scope, in short. Until it is there, the one before, or what the last visit has seen. */
export const summariesQuery = (request: SummaryRequest, page = 1) =>
  queryOptions({
    queryKey: ['summaries', request, page],
    queryFn: ({ signal }) =>
      json(
        clientApi.servers.$get(
          {
            query: {
              type: request.scope,
              'filter[*]': request.search ?? '',
              'filter[uuid]': request.uuid ?? '',
              'filter[state]': request.state ?? '',
              'filter[node]': request.node ?? '',
              'filter[egg]': request.egg ?? '',
              'filter[owner]': request.owner ?? '',
              'filter[favourite]': request.isFavourite ? 'true' : '',
              'filter[folder]': request.folder === undefined ? '' : String(request.folder),
              sort: request.sort ?? '',
              page,
              per_page: summariesPerPage,
            },
          },
          abortedBy(signal),
        ),
      ),
    placeholderData: (before) => (page === 1 ? (before ?? recallList<SummaryPage>(request)) : undefined),
  })

/** Returns the servers of all pages that are loaded, in their order. */
export const loadedSummaries = (queries: QueryClient, request: SummaryRequest): ServerSummary[] =>
  queries
    .getQueriesData<SummaryPage>({ queryKey: ['summaries', request] })
    .toSorted(([[, , a]], [[, , b]]) => Number(a) - Number(b))
    .flatMap(([, page]) => (page ? rowsOf(page) : []))

/** The names of the nodes and games of all servers in a scope. */
export const filterNamesQuery = (scope: Scope) =>
  queryOptions({
    queryKey: ['server-filters', scope],
    queryFn: ({ signal }) =>
      json(clientApi.account.servers.filters.$get({ query: { type: scope } }, abortedBy(signal))),
    select: attributesOf,
    staleTime: 60_000,
  })

/** The folders of the user. */
export const foldersQuery = queryOptions({
  queryKey: ['server-folders'],
  queryFn: async ({ signal }) =>
    rowsOf(await json(clientApi.account.servers.folders.$get({}, abortedBy(signal)))),
  staleTime: 60_000,
})

/** What of the user's own list changes: a mark, or the folder (null for none). */
export type Placement = { favourite?: boolean; folder?: number | null }

/** Servers that one request places. */
const maxPlaced = 100

/** Marks servers as favourites, or puts them into a folder; the list shows it at once. */
export function usePlacement() {
  const { t } = useTranslation('home')
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ servers, ...change }: { servers: string[] } & Placement) => {
      for (let at = 0; at < servers.length; at += maxPlaced)
        await done(
          clientApi.account.servers.$patch({
            json: { servers: servers.slice(at, at + maxPlaced), ...change },
          }),
        )
    },
    onMutate: ({ servers, favourite, folder }) => {
      const placed = new Set(servers)
      const change = {
        ...(favourite === undefined ? {} : { is_favourite: favourite }),
        ...(folder === undefined ? {} : { folder }),
      }
      queries.setQueriesData<SummaryPage>({ queryKey: ['summaries'] }, (page) => {
        if (!page) return page
        const data = page.data.map((item) =>
          placed.has(item.attributes.identifier)
            ? { ...item, attributes: { ...item.attributes, ...change } }
            : item,
        )
        return { ...page, data }
      })
    },
    onError: (error) => toastError(error, t('place.failed')),
    onSettled: () => refetchList(queries),
  })
}

/** Has the list and the folders read again. */
export const refetchList = (queries: QueryClient) =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['summaries'] }),
    queries.invalidateQueries({ queryKey: ['server-folders'] }),
  ])
