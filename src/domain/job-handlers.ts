import { maintainActivity } from './activity-partitions.ts'
import { discardUpload } from './backup-uploads.ts'
import { applyDatabasePassword } from './database-passwords.ts'
import { dropLeftDatabase, reconcileDatabase } from './database-reconciliation.ts'
import { configureNode } from './node-configuration.ts'
import { revokeDaemonAccess } from './revocations.ts'
import { createServerOnNode, deleteServerFromNode, syncServer } from './servers/node-jobs.ts'
import { cancelTransferOnNode, expireTransfer, startTransferOnNode } from './transfer-jobs.ts'
import { reinstallServerOnNode } from './servers/reinstall.ts'
import type { JobHandlers } from './jobs.ts'

/** What each kind of job does. */
export const jobHandlers: JobHandlers = {
  'create-server-on-node': createServerOnNode,
  'delete-server-from-node': deleteServerFromNode,
  'sync-server': syncServer,
  'reinstall-server-on-node': reinstallServerOnNode,
  'configure-node': configureNode,
  'start-transfer': startTransferOnNode,
  'cancel-transfer': cancelTransferOnNode,
  'expire-transfer': expireTransfer,
  'revoke-daemon-access': revokeDaemonAccess,
  'discard-backup-upload': discardUpload,
  'reconcile-database': reconcileDatabase,
  'drop-database': dropLeftDatabase,
  'apply-database-password': applyDatabasePassword,
  'maintain-activity': maintainActivity,
}
