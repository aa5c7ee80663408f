import { maintainActivity } from '../activity/partitions.ts'
import { expireBackup } from '../backups/completion.ts'
import { discardNodeArchive, startBackupOnNode } from '../backups/dispatch.ts'
import { finishRemovalOnNode } from '../backups/remove.ts'
import { watchRestoration } from '../backups/restoration-completion.ts'
import { restoreBackupOnNode } from '../backups/restore.ts'
import { discardUpload, sweepUploads } from '../backups/uploads.ts'
import { runBulkOperation } from '../bulk/run.ts'
import { applyDatabasePassword } from '../databases/passwords.ts'
import { dropOrphanedDatabase, reconcileDatabase } from '../databases/reconciliation.ts'
import { queryGame } from '../games/queries.ts'
import { checkNodes } from '../heartbeats/check-nodes.ts'
import { sendMail } from '../mail/send.ts'
import { revokeDaemonAccess } from '../nodes/access-revocations.ts'
import { configureNode, configureNodes } from '../nodes/configuration.ts'
import { advanceRun } from '../schedules/advance-run.ts'
import { checkInstallation } from '../servers/installation.ts'
import { createServerOnNode } from '../servers/late-creation.ts'
import { deleteServerFromNode, syncServer } from '../servers/node-jobs.ts'
import { reinstallServerOnNode } from '../servers/reinstall.ts'
import { cancelTransferOnNode, expireTransfer, startTransferOnNode } from '../transfers/jobs.ts'
import { expireTrash } from '../trash/expiry.ts'
import { reconcileTrash } from '../trash/reconcile.ts'
import { prune } from './prune.ts'
import type { JobHandlers } from './run.ts'

/** The handler of each kind of job. */
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
  'discard-backup-archive': discardNodeArchive,
  'discard-backup-upload': discardUpload,
  'sweep-uploads': sweepUploads,
  'reconcile-database': reconcileDatabase,
  'drop-database': dropOrphanedDatabase,
  'apply-database-password': applyDatabasePassword,
  'maintain-activity': maintainActivity,
  'settle-trash': reconcileTrash,
  'expire-trash': expireTrash,
  'query-game': queryGame,
  'check-nodes': checkNodes,
  'run-bulk-operation': runBulkOperation,
  'run-schedule': advanceRun,
  'watch-install': checkInstallation,
  prune,
  'send-mail': sendMail,
}
