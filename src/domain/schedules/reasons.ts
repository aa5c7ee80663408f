import { daemonAway } from '../../errors.ts'
import { storeAway, storeMissing } from '../backups/archives.ts'
import { tooManyBackups } from '../backups/limits.ts'
import { stopped } from '../control.ts'
import { nodeFailures } from '../daemon-errors.ts'

/** Why runs and steps do not do what was planned, in the panel's words, by codes that stay when the words change. */
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
  server_stopped: stopped,
  node_maintenance: 'The node of the server was under maintenance.',
  node_unreachable: nodeFailures.unreachable,
  node_away: daemonAway(0).message,
  node_refuses_panel: nodeFailures.refusesPanel,
  node_answer_unusable: nodeFailures.unusable,
  node_failed: nodeFailures.failed,
  backup_limit: tooManyBackups().message,
  store_missing: storeMissing,
  store_away: storeAway,
} as const

const codes = Object.keys(reasons) as [keyof typeof reasons, ...(keyof typeof reasons)[]]

/** The codes that the wire knows. */
export const reasonCodes = codes

/** The code of a stored reason; null for the words of a daemon, and for those of an earlier panel. */
export const codeOf = (reason: string | null): keyof typeof reasons | null =>
  // Some go on with a status or the id of a request.
  codes.find((code) => reason?.startsWith(reasons[code])) ?? null
