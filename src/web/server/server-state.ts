import type { Server } from '../api/resources.ts'
import type { Tone } from '../components/badge.tsx'

/** Returns the state that blocks a server, as the texts name it; null when there is none. */
export function serverConflict(
  server: Server,
): 'suspended' | 'transferring' | 'restoring' | 'installing' | 'install_failed' | 'maintenance' | null {
  if (server.is_suspended) return 'suspended'
  if (server.is_transferring) return 'transferring'
  if (server.status === 'restoring_backup') return 'restoring'
  if (server.status === 'install_failed' || server.status === 'reinstall_failed') return 'install_failed'
  if (server.is_installing) return 'installing'
  return server.is_node_under_maintenance ? 'maintenance' : null
}

/** Whether the panel refuses actions on the server. After a failed reinstallation it does not. */
export const isBlocked = (server: Server): boolean =>
  serverConflict(server) !== null && server.status !== 'reinstall_failed'

/** Conflicts in which administrators may watch the console. */
const watchable = new Set(['installing', 'restoring', 'transferring'])

/** Whether the panel gives this user access to the console: another attempt in a state that blocks it is refused, too. */
export const hasConsole = (server: Server, isAdministrator: boolean): boolean =>
  !isBlocked(server) || (isAdministrator && watchable.has(serverConflict(server) ?? ''))

/** Returns the displayed state of a server with its colour. `state` comes from the daemon; null while it is unknown. */
export function displayedState(
  server: Server,
  state: string | null,
  isUnreachable: boolean,
): { name: string; tone: Tone } {
  const conflict = serverConflict(server)
  if (conflict)
    return {
      name: conflict,
      tone: conflict === 'suspended' || conflict === 'install_failed' ? 'bad' : 'warn',
    }
  if (isUnreachable) return { name: 'unreachable', tone: 'bad' }
  if (state === 'running') return { name: 'running', tone: 'good' }
  if (state === 'starting' || state === 'stopping') return { name: state, tone: 'warn' }
  return state === 'offline' ? { name: 'offline', tone: 'plain' } : { name: 'connecting', tone: 'plain' }
}
