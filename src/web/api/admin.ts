import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { send } from './request.ts'
import { queryClient } from './query-client.ts'

/** Parameters of a request; those without a value are left out. */
export type AdminQuery = Record<string, string | number | undefined>

const addressOf = (path: string, query: AdminQuery = {}) => {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value))
  }
  return `/api/application${path}${params.size > 0 ? `?${params}` : ''}`
}

/** Fetches an answer of the Application API, whose answers have no types of their own. */
export const adminGet = async <Answer>(
  path: string,
  query?: AdminQuery,
  signal?: AbortSignal,
): Promise<Answer> =>
  (await send(addressOf(path, query), { signal: signal ?? null })).json() as Promise<Answer>

/** Fetches a resource with its version, which the panel expects when it is changed. */
export async function adminGetVersion<Answer>(
  path: string,
  query?: AdminQuery,
): Promise<{ answer: Answer; version: string | null }> {
  const answer = await send(addressOf(path, query))
  return { answer: (await answer.json()) as Answer, version: answer.headers.get('etag') }
}

/** A query of the Application API. It is stale at once where changes of others matter: it is refetched on each visit. */
export const adminQuery = <Answer>(path: string, query: AdminQuery = {}) =>
  queryOptions({
    queryKey: ['admin', path, query],
    queryFn: ({ signal }) => adminGet<Answer>(path, query, signal),
    staleTime: 2000,
  })

/** A list of which the last page stays until the next one has come. */
export const adminListQuery = <Answer>(path: string, query: AdminQuery) =>
  queryOptions({ ...adminQuery<Answer>(path, query), placeholderData: keepPreviousData })

/**
 * Sends a change to the Application API. Returns the body of the answer; undefined when it has none. The panel refuses
 * it when the resource is not of the version that is named.
 */
export async function adminSend<Answer = unknown>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  version?: string | null,
): Promise<Answer> {
  const answer = await send(addressOf(path), {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(version ? { 'if-match': version } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

/** Refetches everything that administrators see, after a change. */
export const refetchAdmin = () => queryClient.invalidateQueries({ queryKey: ['admin'] })
