import { createRouter } from '@tanstack/react-router'
import { queryClient } from '../api/query-client.ts'
import { routeTree } from '../route-tree.gen.ts'
import { NotFound, RouteError, RoutePending } from './route-states.tsx'

/** The router. Pages are files named after their paths; hovering a link prefetches what its page needs. */
export const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: 'intent',
  // The query cache decides how long prefetched data stays fresh.
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
