import { QueryClient } from '@tanstack/react-query'
import { asRequestError } from './error.ts'

const mostTries = 3
const longestWait = 30_000

/** Failures that pass by themselves: nobody answered, a node or the panel is away, or too much was asked. */
const passes = (status: number) => status === 0 || status === 429 || status === 502 || status >= 503

/** Answers kept for pages: shown at once when somebody comes back, and fetched again behind that. */
export const queryClient = new QueryClient({
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
