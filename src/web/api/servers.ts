import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type * as z from 'zod'
import type { ServerWithMeta as ServerWithMetaSchema } from '../../surfaces/client/resources/server.ts'
import type { presentBatchStats } from '../../surfaces/client/resources/stats.ts'
import { serverConflict } from '../server/server-state.ts'
import { abortedBy, clientApi, done, json, serverApi } from './client.ts'
import { queryClient } from './query-client.ts'
import { rowsOf, type Server } from './resources.ts'

export type Scope = 'accessible' | 'owner' | 'admin' | 'admin-all'
export type ServerWithMeta = z.output<ReturnType<typeof ServerWithMetaSchema>>

/** A server with the permissions of the user. */
export const serverQuery = (server: string) =>
  queryOptions({
    queryKey: ['server', server],
    queryFn: ({ signal }) => json(serverApi.$get({ param: { server } }, abortedBy(signal))),
    // These states can end without the user, so they are polled.
    refetchInterval: ({ state }) => {
      if (!state.data) return false
      const { attributes } = state.data
      if (isInTransition(attributes)) return 5000
      return serverConflict(attributes) ? pollIntervalMs : false
    },
  })

/** The players of a server, as its game answered last; asking has the panel query the game again. */
export const playersQuery = (server: string) =>
  queryOptions({
    queryKey: ['players', server],
    queryFn: ({ signal }) => json(serverApi.query.$get({ param: { server } }, abortedBy(signal))),
    // The first answer is one of before: the next one has what the game says now.
    refetchInterval: ({ state }) => (state.data?.attributes.status === 'pending' ? 3000 : 45_000),
  })

/** Since when a server is being installed, and the log of its daemon. */
export const installationQuery = (server: string) =>
  queryOptions({
    queryKey: ['installation', server],
    queryFn: ({ signal }) => json(serverApi.installation.$get({ param: { server } }, abortedBy(signal))),
    refetchInterval: 10_000,
  })

/** What blocks a server and since when, and since when its node has not answered. */
export const conflictQuery = (server: string, conflict: string) =>
  queryOptions({
    queryKey: ['server', server, 'conflict', conflict],
    queryFn: ({ signal }) => json(serverApi.conflict.$get({ param: { server } }, abortedBy(signal))),
    staleTime: 0,
    // Heartbeats notice a minute later that a node is away.
    refetchInterval: 30_000,
  })

const isInTransition = (server: Server) =>
  server.is_transferring || server.status === 'installing' || server.status === 'restoring_backup'

/** Since when a node has not answered for a server; `isExact` when it had answered before on this page. */
export type Outage = { since: number; isExact: boolean }

/** Servers that have answered on this page, and the outages of the others. */
const seenReachable = new Set<string>()
const outages = new Map<string, Outage>()

/** Poll intervals for the state of servers; the fast one while a server starts or stops. */
const pollIntervalMs = 20_000
const fastPollIntervalMs = 3000

/** State and resource usage of one server in a batch. */
export type ServerStats = ReturnType<typeof presentBatchStats>['data'][number]['attributes']

/** What is known about servers, by UUID. */
export type ServerResources = {
  statsByServer: ReadonlyMap<string, ServerStats>
  outageByServer: ReadonlyMap<string, Outage>
}

/**
 * State and resource usage of up to 100 servers in one request; servers with an unreachable node are in
 * `outageByServer`.
 */
export const resourcesQuery = (servers: readonly string[]) =>
  queryOptions<ServerResources>({
    queryKey: ['resources', ...servers],
    enabled: servers.length > 0,
    queryFn: ({ signal }) => fetchResources(servers, signal),
    refetchInterval: ({ state }) => (isStartingOrStopping(state.data) ? fastPollIntervalMs : pollIntervalMs),
    placeholderData: keepPreviousData,
  })

async function fetchResources(servers: readonly string[], signal: AbortSignal): Promise<ServerResources> {
  const query = { servers: servers.join(',') }
  const answer = await json(clientApi.servers.resources.$get({ query }, abortedBy(signal)))
  const statsByServer = rowsOf(answer)
  for (const { server } of statsByServer) {
    seenReachable.add(server)
    outages.delete(server)
  }
  return {
    statsByServer: new Map(statsByServer.map((stats) => [stats.server, stats])),
    outageByServer: new Map(answer.meta.unavailable.map((server) => [server, outageOf(server)])),
  }
}

const isStartingOrStopping = (resources: ServerResources | undefined) =>
  [...(resources?.statsByServer.values() ?? [])].some(({ current_state: state }) =>
    ['starting', 'stopping'].includes(state),
  )

function outageOf(server: string): Outage {
  const outage = outages.get(server) ?? { since: Date.now(), isExact: seenReachable.has(server) }
  outages.set(server, outage)
  return outage
}

export type PowerSignal = 'start' | 'stop' | 'restart' | 'kill'

/** Sends a power signal. */
export const sendPower = (server: string, signal: PowerSignal) =>
  done(serverApi.power.$post({ param: { server }, json: { signal } }))

/** How long a token for the live console is used: a minute less than it is valid. */
const tokenUseMs = 9 * 60_000

/**
 * Returns the address of the live console with a token: those of before while they are younger than `maxAgeMs` and the
 * token is good, since the panel gives out few of them a minute.
 */
export const fetchConsoleAccess = (server: string, maxAgeMs = tokenUseMs) =>
  queryClient.fetchQuery({
    queryKey: ['websocket', server],
    queryFn: () => json(serverApi.websocket.$get({ param: { server } })),
    staleTime: Math.min(maxAgeMs, tokenUseMs),
    gcTime: tokenUseMs,
    retry: false,
  })

/** Publishes a redacted log. Returns its address and for how many seconds it stays. */
export const shareLog = (server: string, content: string) =>
  json(serverApi.console.share.$post({ param: { server }, json: { content } }))
