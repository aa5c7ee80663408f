import { adminSend } from '../../api/admin.ts'
import type { BulkOperation, Item } from '../resources.ts'

/** What can be done with many servers at once, as the API takes it. */
export type BulkAction = Pick<BulkOperation, 'action'> & { signal?: string; node?: number; force?: boolean }

/** Starts an action on many servers. */
export const startBulk = (action: BulkAction, servers: readonly number[]) =>
  adminSend<Item<BulkOperation>>('POST', '/servers/bulk', { ...action, servers })

/** Returns the name of the text of an action, below `bulk`. */
export const textOfAction = ({ action, signal, force }: Pick<BulkOperation, 'action' | 'signal' | 'force'>) =>
  action === 'power' ? (signal ?? 'start') : action === 'delete' && force ? 'force_delete' : action
