import { useQuery } from '@tanstack/react-query'
import { resourcesQuery } from '../api/servers.ts'
import { useLive, useServer } from './server-context.tsx'
import { isBlocked } from './server-state.ts'

/** A lost connection is reported after this many failed attempts; one is usually repaired unnoticed. */
const minReportedFailures = 2

export type ServerLive = {
  /** State of the game server; null while it is unknown. */
  state: string | null
  /** Neither the browser nor the panel reaches the node. */
  isUnreachable: boolean
  /** The panel reaches the node, but the browser does not. */
  isSocketBlocked: boolean
}

/** Returns the state of the server as its daemon reports it; without a connection, as the panel reports it. */
export function useServerLive(): ServerLive {
  const { server } = useServer()
  const live = useLive()
  const isSocketDown = live.connection !== 'open' && live.failures >= minReportedFailures
  const isPanelAsked = (isSocketDown || live.connection === 'refused') && !isBlocked(server)
  const { data, dataUpdatedAt } = useQuery({
    ...resourcesQuery([server.uuid]),
    enabled: isPanelAsked,
    staleTime: 0,
  })
  const isFresh = isPanelAsked && !live.isPanelUnreachable && dataUpdatedAt > live.lostAt
  const stats = isFresh ? data?.statsByServer.get(server.uuid) : undefined
  return {
    state: live.state ?? stats?.current_state ?? null,
    isUnreachable: isSocketDown && !stats,
    isSocketBlocked: isSocketDown && stats !== undefined,
  }
}
