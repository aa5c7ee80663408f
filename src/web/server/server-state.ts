import type { Server } from '../api/resources.ts'
import type { Tone } from '../components/badge.tsx'

/** What holds a server up, as texts name it; null when nothing does. */
export function obstacleOf(
  server: Server,
): 'suspended' | 'transferring' | 'restoring' | 'installing' | 'install_failed' | 'maintenance' | null {
  if (server.is_suspended) return 'suspended'
  if (server.is_transferring) return 'transferring'
  if (server.status === 'restoring_backup') return 'restoring'
  if (server.status === 'install_failed' || server.status === 'reinstall_failed') return 'install_failed'
  if (server.is_installing) return 'installing'
  return server.is_node_under_maintenance ? 'maintenance' : null
}

/** Whether the panel refuses to act on the server as it is. A failed reinstallation leaves it as it was. */
export const isBlocked = (server: Server): boolean =>
  obstacleOf(server) !== null && server.status !== 'reinstall_failed'

/** The word for how a server is, and its colour. `state` is the daemon's; null while it is not known. */
export function shownState(
  server: Server,
  state: string | null,
  isUnreachable: boolean,
): { name: string; tone: Tone } {
  const obstacle = obstacleOf(server)
  if (obstacle)
    return {
      name: obstacle,
      tone: obstacle === 'suspended' || obstacle === 'install_failed' ? 'bad' : 'warn',
    }
  if (isUnreachable) return { name: 'unreachable', tone: 'bad' }
  if (state === 'running') return { name: 'running', tone: 'good' }
  if (state === 'starting' || state === 'stopping') return { name: state, tone: 'warn' }
  return state === 'offline' ? { name: 'offline', tone: 'plain' } : { name: 'connecting', tone: 'plain' }
}
