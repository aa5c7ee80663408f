import { createRouter } from '@tanstack/react-router'
import { queryClient } from '../api/query-client.ts'
import { routeTree } from '../route-tree.gen.ts'
import { NotFound, RouteError, RoutePending } from './route-states.tsx'

/** Pages are files named like their addresses; pointing at a link fetches what its page needs. */
export const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: 'intent',
  // What was fetched ahead is judged by the cache of queries.
  defaultPreloadStaleTime: 0,
  defaultPendingComponent: RoutePending,
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
