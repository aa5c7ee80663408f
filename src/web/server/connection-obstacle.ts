import { usePanelReachable } from '../offline/use-panel-reachable.ts'
import { useLive } from './server-context.tsx'
import { useServerLive } from './server-live.ts'

/** Why there is no live connection: the user may not have it, the panel or the node is away, or the browser alone does not reach the node. */
export type ConnectionObstacle = 'refused' | 'panel_away' | 'unreachable' | 'line_blocked'

export const obstacleTitles = {
  refused: 'banner.refused',
  panel_away: 'strings:failure.offline',
  unreachable: 'strings:state.unreachable',
  line_blocked: 'banner.line_blocked',
} as const satisfies Record<ConnectionObstacle, string>

export const obstacleTexts = {
  refused: 'banner.refused_text',
  panel_away: 'banner.panel_away',
  unreachable: 'banner.unreachable',
  line_blocked: 'banner.line_blocked_text',
} as const satisfies Record<ConnectionObstacle, string>

/** Returns what keeps the live connection from opening; null when nothing does, and while it is not yet certain. */
export function useConnectionObstacle(): ConnectionObstacle | null {
  const { connection, isPanelUnreachable } = useLive()
  const { isUnreachable, isSocketBlocked } = useServerLive()
  const isPanelReachable = usePanelReachable()
  if (connection === 'refused') return 'refused'
  // Without the panel the notice above the page says what is wrong, and nothing is known of the node.
  if (!isPanelReachable) return null
  if (isUnreachable) return isPanelUnreachable ? 'panel_away' : 'unreachable'
  return isSocketBlocked ? 'line_blocked' : null
}
