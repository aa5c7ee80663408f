import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { asRequestError } from './error.ts'

const mostTries = 3
const longestWait = 30_000

/** Failures that pass by themselves: nobody answered, a node or the panel is away, or too much was asked. */
const passes = (status: number) => status === 0 || status === 429 || status === 502 || status >= 503

/** What was refused for the state of a server may be news of that state: the server is asked for again. */
function lookAtServers(error: unknown): void {
  if (asRequestError(error)?.status !== 409) return
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] === 'server' && queryKey.length === 2,
  })
}

/** Answers kept for pages: shown at once when somebody comes back, and fetched again behind that. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: lookAtServers }),
  mutationCache: new MutationCache({ onError: lookAtServers }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < mostTries && passes(asRequestError(error)?.status ?? 500),
      retryDelay: (attempt, error) => {
        const asked = asRequestError(error)?.retryAfter
        return asked ? Math.min(asked * 1000, longestWait) : Math.min(1000 * 2 ** attempt, longestWait)
      },
    },
    mutations: { retry: false },
  },
})
