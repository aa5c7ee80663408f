import { serverStateConflict } from '../errors.ts'
import type { ReachedServer } from './credentials.ts'

/** What keeps a server from being acted on, in the order in which callers are told. */
const conflicts = {
  suspended: {
    detail: 'The server is suspended.',
    holds: ({ server }) => server.status === 'suspended',
  },
  maintenance: {
    detail: 'The node of the server is under maintenance.',
    holds: ({ node }) => node.maintenanceMode,
  },
  installing: {
    detail: 'The server has not been installed.',
    holds: ({ server }) => server.status === 'installing' || server.status === 'install_failed',
  },
  restoring: {
    detail: 'The server is being restored from a backup.',
    holds: ({ server }) => server.status === 'restoring_backup',
  },
  transferring: {
    detail: 'The server is being moved to another node.',
    holds: ({ isTransferring }) => isTransferring,
  },
} satisfies Record<string, { detail: string; holds: (state: ServerState) => boolean }>

type ServerState = {
  server: Pick<ReachedServer['server'], 'status'>
  node: Pick<ReachedServer['node'], 'maintenanceMode'>
  isTransferring: boolean
}
export type ServerConflict = keyof typeof conflicts

/**
 * The server's state allows action, but for the conflicts that are tolerated. Refuses with 409, naming
 * the first of the others. A failed reinstallation is no conflict. Spec: States, server status.
 */
export function refuseConflict(state: ServerState, tolerated: readonly ServerConflict[] = []): void {
  for (const [name, { detail, holds }] of Object.entries(conflicts)) {
    if (!tolerated.includes(name as ServerConflict) && holds(state)) throw serverStateConflict(detail)
  }
}
