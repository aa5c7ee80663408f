import { daemonUnavailable } from '../../errors.ts'
import { storeUnavailableMessage, storeMissingMessage } from '../backups/archives.ts'
import { tooManyBackups } from '../backups/limits.ts'
import { nodeFailureDetails } from '../nodes/daemon-errors.ts'
import { serverStoppedDetail } from '../servers/control.ts'

/**
 * The sentences that runs and steps store as the reason why they did not succeed, by the codes that the API
 * gives. Stored rows are matched by their text: a changed sentence takes the code from older rows. Spec:
 * docs/schedules.md#runs.
 */
export const reasons = {
  schedule_changed: 'The schedule was changed.',
  schedule_disabled: 'The schedule was switched off.',
  panel_away: 'The panel was away when it was due.',
  outcome_unknown: 'The panel ended before it heard what became of it.',
  server_installing: 'The server was being installed.',
  server_install_failed: 'The installation of the server had failed.',
  server_reinstall_failed: 'The reinstallation of the server had failed.',
  server_suspended: 'The server was suspended.',
  server_restoring_backup: 'A backup of the server was being restored.',
  server_transferring: 'The server was being moved to another node.',
  server_offline: 'The server was not online.',
  server_stopped: serverStoppedDetail,
  node_maintenance: 'The node of the server was under maintenance.',
  node_unreachable: nodeFailureDetails.unreachable,
  node_away: daemonUnavailable(0).message,
  node_refuses_panel: nodeFailureDetails.refusesPanel,
  node_answer_unusable: nodeFailureDetails.unusable,
  node_failed: nodeFailureDetails.failed,
  backup_limit: tooManyBackups().message,
  store_missing: storeMissingMessage,
  store_away: storeUnavailableMessage,
} as const

/** The codes that the API gives. */
export const reasonCodes = Object.keys(reasons) as [keyof typeof reasons, ...(keyof typeof reasons)[]]

/** Finds the code of a stored reason; null for the message of a daemon and for a sentence of an earlier version. */
export const findReasonCode = (reason: string | null): keyof typeof reasons | null =>
  // Some sentences continue with a status or the id of a request.
  reasonCodes.find((code) => reason?.startsWith(reasons[code])) ?? null
