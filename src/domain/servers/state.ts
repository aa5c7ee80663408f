import { type Reason, serverStateConflict } from '../../errors.ts'
import type { ServerAccess } from './access.ts'

/** Conflicts that keep a server from being acted on, in the order in which callers are told. */
const conflicts = {
  suspended: {
    reason: 'server_suspended',
    detail: 'The server is suspended.',
    applies: ({ server }) => server.status === 'suspended',
  },
  maintenance: {
    reason: 'node_maintenance',
    detail: 'The node of the server is under maintenance.',
    applies: ({ node }) => node.maintenanceMode,
  },
  installing: {
    reason: 'server_not_installed',
    detail: 'The server has not been installed.',
    applies: ({ server }) => server.status === 'installing' || server.status === 'install_failed',
  },
  restoring: {
    reason: 'server_restoring',
    detail: 'The server is being restored from a backup.',
    applies: ({ server }) => server.status === 'restoring_backup',
  },
  transferring: {
    reason: 'server_transferring',
    detail: 'The server is being transferred to another node.',
    applies: ({ isTransferring }) => isTransferring,
  },
} satisfies Record<string, { reason: Reason; detail: string; applies: (state: ServerState) => boolean }>

type ServerState = {
  server: Pick<ServerAccess['server'], 'status'>
  node: Pick<ServerAccess['node'], 'maintenanceMode'>
  isTransferring: boolean
}
export type ServerConflict = keyof typeof conflicts

/**
 * Finds the first conflict that keeps the server from being acted on, without the tolerated ones; null when there is
 * none. A failed reinstallation is no conflict. Spec: docs/servers.md#status.
 */
export function findConflict(
  state: ServerState,
  tolerated: readonly ServerConflict[] = [],
): ServerConflict | null {
  const names = Object.keys(conflicts) as ServerConflict[]
  return names.find((name) => !tolerated.includes(name) && conflicts[name].applies(state)) ?? null
}

/** Refuses with 409, naming the conflict, while `findConflict` finds one. */
export function refuseConflict(state: ServerState, tolerated: readonly ServerConflict[] = []): void {
  const conflict = findConflict(state, tolerated)
  if (!conflict) return
  const { reason, detail } = conflicts[conflict]
  throw serverStateConflict(reason, detail)
}
