import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { asRequestError } from './error.ts'

const maxRetries = 3
const maxRetryDelayMs = 30_000

/** Whether a failure is likely to pass: no answer, a node or the panel is unavailable, or the request was throttled. */
const isTransient = (status: number) => status === 0 || status === 429 || status === 502 || status >= 503

/** Refetches open servers after a 409, since their state has probably changed. */
function refetchServersOnConflict(error: unknown): void {
  if (asRequestError(error)?.status !== 409) return
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] === 'server' && queryKey.length === 2,
  })
}

/** The query cache: pages show cached data at once and refetch it in the background. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: refetchServersOnConflict }),
  mutationCache: new MutationCache({ onError: refetchServersOnConflict }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // The last answers are shown offline, so requests are sent.
      networkMode: 'always',
      refetchOnReconnect: true,
      retry: (failures, error) =>
        navigator.onLine && failures < maxRetries && isTransient(asRequestError(error)?.status ?? 500),
      retryDelay: (attempt, error) => {
        const retryAfter = asRequestError(error)?.retryAfter
        return retryAfter
          ? Math.min(retryAfter * 1000, maxRetryDelayMs)
          : Math.min(1000 * 2 ** attempt, maxRetryDelayMs)
      },
    },
    // An action says at once that there is no connection, rather than waiting for one.
    mutations: { retry: false, networkMode: 'always' },
  },
})
