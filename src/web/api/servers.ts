import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { presentSharedLog } from '../../surfaces/client/resources/shared-log.ts'
import type { presentBatchStats } from '../../surfaces/client/resources/stats.ts'
import { request } from './request.ts'
import type { Item, PageOf, Server } from './resources.ts'

export type Scope = 'accessible' | 'owner' | 'admin' | 'admin-all'
export type ServerPage = PageOf<Server>
export type ServerWithMeta = Item<Server> & {
  meta: { is_server_owner: boolean; user_permissions: readonly string[] }
}

const perPage = 100

/** One page of servers within reach, by name. */
export const serversQuery = (scope: Scope, search: string, page: number) =>
  queryOptions({
    queryKey: ['servers', scope, search, page],
    queryFn: ({ signal }) =>
      request<ServerPage>('GET', '/api/client', {
        query: { type: scope === 'accessible' ? null : scope, 'filter[*]': search, page, per_page: perPage },
        signal,
      }),
    placeholderData: keepPreviousData,
  })

/** A server with what the reader may do on it. */
export const serverQuery = (server: string) =>
  queryOptions({
    queryKey: ['server', server],
    queryFn: ({ signal }) => request<ServerWithMeta>('GET', `/api/client/servers/${server}`, { signal }),
    // States that end without the reader are looked at while they last.
    refetchInterval: ({ state }) => {
      if (!state.data) return false
      const { attributes } = state.data
      if (isPassing(attributes)) return 5000
      return attributes.is_suspended || attributes.is_node_under_maintenance ? usualInterval : false
    },
  })

const isPassing = (server: Server) =>
  server.is_transferring || server.status === 'installing' || server.status === 'restoring_backup'

/** Since when a node has not answered for a server, and whether it had answered here before. */
export type Silence = { since: number; isExact: boolean }

/** Servers that were seen to answer, and since when others do not. */
const answered = new Set<string>()
const silences = new Map<string, Silence>()

/** How often states are looked at, in milliseconds, and while one is on its way. */
const usualInterval = 20_000
const shortInterval = 3000

/** State and use of one of several servers. */
export type NamedStats = ReturnType<typeof presentBatchStats>['data'][number]['attributes']

/** What is known of servers, by uuid. */
export type Resources = {
  known: ReadonlyMap<string, NamedStats>
  unavailable: ReadonlyMap<string, Silence>
}

/** State and use of up to 100 servers with one request; servers whose node is away are named as such. */
export const resourcesQuery = (servers: readonly string[]) =>
  queryOptions<Resources>({
    queryKey: ['resources', ...servers],
    enabled: servers.length > 0,
    queryFn: ({ signal }) => readResources(servers, signal),
    refetchInterval: ({ state }) => (isOnItsWay(state.data) ? shortInterval : usualInterval),
    placeholderData: keepPreviousData,
  })

async function readResources(servers: readonly string[], signal: AbortSignal): Promise<Resources> {
  const answer = await request<ReturnType<typeof presentBatchStats>>('GET', '/api/client/servers/resources', {
    query: { servers: servers.join(',') },
    signal,
  })
  const known = answer.data.map(({ attributes }) => attributes)
  for (const { server } of known) {
    answered.add(server)
    silences.delete(server)
  }
  return {
    known: new Map(known.map((stats) => [stats.server, stats])),
    unavailable: new Map(answer.meta.unavailable.map((server) => [server, silenceOf(server)])),
  }
}

const isOnItsWay = (resources: Resources | undefined) =>
  [...(resources?.known.values() ?? [])].some(({ current_state: state }) =>
    ['starting', 'stopping'].includes(state),
  )

function silenceOf(server: string): Silence {
  const silence = silences.get(server) ?? { since: Date.now(), isExact: answered.has(server) }
  silences.set(server, silence)
  return silence
}

export type PowerSignal = 'start' | 'stop' | 'restart' | 'kill'

/** Tells the server's node. */
export const sendPower = (server: string, signal: PowerSignal) =>
  request<void>('POST', `/api/client/servers/${server}/power`, { body: { signal } })

/** Where the live console is, and the token which opens it for ten minutes. */
export const websocketDetails = (server: string) =>
  request<{ data: { token: string; socket: string } }>('GET', `/api/client/servers/${server}/websocket`)

/** Publishes a log, redacted, for so many seconds. */
export const shareLog = (server: string, content: string) =>
  request<Awaited<ReturnType<typeof presentSharedLog>>>(
    'POST',
    `/api/client/servers/${server}/console/share`,
    { body: { content } },
  )
