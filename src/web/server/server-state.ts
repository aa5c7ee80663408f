import type { Server } from '../api/resources.ts'
import type { Tone } from '../components/badge.tsx'
import type { Shape } from '../components/status-shape.tsx'

/** What of a server says which state it is in. */
export type ServerFlags = Pick<
  Server,
  'status' | 'is_suspended' | 'is_installing' | 'is_transferring' | 'is_node_under_maintenance'
>

/** The states that block a server, as the texts name them. */
export type Conflict =
  | 'suspended'
  | 'transferring'
  | 'restoring'
  | 'installing'
  | 'install_failed'
  | 'maintenance'

/** Returns the state that blocks a server; null when there is none. */
export function serverConflict(server: ServerFlags): Conflict | null {
  if (server.is_suspended) return 'suspended'
  if (server.is_transferring) return 'transferring'
  if (server.status === 'restoring_backup') return 'restoring'
  if (server.status === 'install_failed' || server.status === 'reinstall_failed') return 'install_failed'
  if (server.is_installing) return 'installing'
  return server.is_node_under_maintenance ? 'maintenance' : null
}

/** Whether the panel refuses actions on the server. After a failed reinstallation it does not. */
export const isBlocked = (server: ServerFlags): boolean =>
  serverConflict(server) !== null && server.status !== 'reinstall_failed'

/** Conflicts in which administrators may watch the console. */
const watchable = new Set(['installing', 'restoring', 'transferring'])

/** Whether the panel gives this user access to the console: another attempt in a state that blocks it is refused, too. */
export const hasConsole = (server: ServerFlags, isAdministrator: boolean): boolean =>
  !isBlocked(server) || (isAdministrator && watchable.has(serverConflict(server) ?? ''))

/** Returns the displayed state of a server with its colour and shape. `state` comes from the daemon; null while it is unknown. */
export function displayedState(
  server: ServerFlags,
  state: string | null,
  isUnreachable: boolean,
): { name: string; tone: Tone; shape: Shape } {
  const conflict = serverConflict(server)
  if (conflict === 'suspended') return { name: conflict, tone: 'bad', shape: 'bar' }
  if (conflict === 'install_failed') return { name: conflict, tone: 'bad', shape: 'triangle' }
  if (conflict)
    return { name: conflict, tone: 'warn', shape: conflict === 'maintenance' ? 'diamond' : 'half' }
  if (isUnreachable) return { name: 'unreachable', tone: 'bad', shape: 'triangle' }
  if (state === 'running') return { name: 'running', tone: 'good', shape: 'disc' }
  if (state === 'starting' || state === 'stopping') return { name: state, tone: 'warn', shape: 'half' }
  return { name: state === 'offline' ? 'offline' : 'connecting', tone: 'plain', shape: 'ring' }
}
