import { useQuery } from '@tanstack/react-query'
import { resourcesQuery } from '../api/servers.ts'
import { useLive, useServer } from './server-context.tsx'
import { isBlocked } from './server-state.ts'

/** Failures after which a lost line is spoken of; one is mended before anybody has read of it. */
const fewFailures = 2

export type ServerLive = {
  /** State of the game server; null while nobody knows. */
  state: string | null
  /** Neither the reader's browser nor the panel reaches the node. */
  isUnreachable: boolean
  /** The panel reaches the node, and the reader's browser does not. */
  isLineBlocked: boolean
}

/** How the server is, as its daemon tells; where the line to it cannot be opened, as the panel tells. */
export function useServerLive(): ServerLive {
  const { server } = useServer()
  const live = useLive()
  const isLineDown = live.connection !== 'open' && live.failures >= fewFailures
  const asksPanel = (isLineDown || live.connection === 'refused') && !isBlocked(server)
  const { data, dataUpdatedAt } = useQuery({
    ...resourcesQuery([server.uuid]),
    enabled: asksPanel,
    staleTime: 0,
  })
  const isNews = asksPanel && !live.isPanelAway && dataUpdatedAt > live.lostAt
  const known = isNews ? data?.known.get(server.uuid) : undefined
  return {
    state: live.state ?? known?.current_state ?? null,
    isUnreachable: isLineDown && !known,
    isLineBlocked: isLineDown && known !== undefined,
  }
}
