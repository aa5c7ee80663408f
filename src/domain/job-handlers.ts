import { maintainActivity } from './activity-partitions.ts'
import { expireBackup } from './backups/failures.ts'
import { discardArchive, startBackupOnNode } from './backups/orders.ts'
import { finishRemovalOnNode } from './backups/remove.ts'
import { watchRestoration } from './backups/restoration-ends.ts'
import { restoreBackupOnNode } from './backups/restore.ts'
import { sweepUploads } from './backups/upload-sweep.ts'
import { discardUpload } from './backups/uploads.ts'
import { applyDatabasePassword } from './database-passwords.ts'
import { dropLeftDatabase, reconcileDatabase } from './database-reconciliation.ts'
import { sendMail } from './mail/send.ts'
import { configureNode, configureNodes } from './node-configuration.ts'
import { queryGame } from './game-queries.ts'
import { revokeDaemonAccess } from './revocations.ts'
import { createServerOnNode, deleteServerFromNode, syncServer } from './servers/node-jobs.ts'
import { cancelTransferOnNode, expireTransfer, startTransferOnNode } from './transfer-jobs.ts'
import { reinstallServerOnNode } from './servers/reinstall.ts'
import { expireTrash } from './trash/expiry.ts'
import { settleTrash } from './trash/settle.ts'
import { watchInstallOnNode } from './servers/watch-install.ts'
import type { JobHandlers } from './jobs.ts'
import { prune } from './prune.ts'
import { carryRunOn } from './schedules/runs.ts'

/** What each kind of job does. */
export const jobHandlers: JobHandlers = {
  'create-server-on-node': createServerOnNode,
  'delete-server-from-node': deleteServerFromNode,
  'sync-server': syncServer,
  'reinstall-server-on-node': reinstallServerOnNode,
  'configure-node': configureNode,
  'configure-nodes': configureNodes,
  'start-transfer': startTransferOnNode,
  'cancel-transfer': cancelTransferOnNode,
  'expire-transfer': expireTransfer,
  'revoke-daemon-access': revokeDaemonAccess,
  'start-backup': startBackupOnNode,
  'restore-backup': restoreBackupOnNode,
  'watch-restoration': watchRestoration,
  'expire-backup': expireBackup,
  'delete-backup': finishRemovalOnNode,
  'discard-backup-archive': discardArchive,
  'discard-backup-upload': discardUpload,
  'sweep-uploads': sweepUploads,
  'reconcile-database': reconcileDatabase,
  'drop-database': dropLeftDatabase,
  'apply-database-password': applyDatabasePassword,
  'maintain-activity': maintainActivity,
  'settle-trash': settleTrash,
  'expire-trash': expireTrash,
  'query-game': queryGame,
  'run-schedule': carryRunOn,
  'watch-install': watchInstallOnNode,
  prune,
  'send-mail': sendMail,
}
