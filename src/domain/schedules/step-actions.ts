import { DaemonError, isUnanswered } from '../../adapters/daemon-error.ts'
import type { PowerSignal } from '../../adapters/daemon.ts'
import type { ScheduleStep } from '../../db/tables/schedule-steps.ts'
import { ApiError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { startScheduledBackup } from '../backups/start.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { toStoppedApiError } from '../servers/control.ts'
import { invalidateStats } from '../servers/stats.ts'

/** The outcome of a step; an `unknown` one may have happened. */
export type StepOutcome = {
  state: 'succeeded' | 'failed' | 'unknown'
  reason: string | null
  /** Whether the node failed: `continue_on_failure` continues only then. */
  isDaemonFailure: boolean
}

/**
 * Performs the action of a step with the authority of the server's owner (AZ-4). Throws only for faults of the
 * panel.
 */
export async function performStep(
  panel: Panel,
  target: ServerOnNode,
  step: ScheduleStep,
): Promise<StepOutcome> {
  try {
    await runAction(panel, target, step)
    return { state: 'succeeded', reason: null, isDaemonFailure: false }
  } catch (error) {
    // The reason is the detail that a user gets who does the same by hand.
    const apiError = toDaemonApiError(step.action === 'command' ? toStoppedApiError(error) : error)
    if (!(apiError instanceof ApiError)) throw error
    const { cause, message } = apiError
    const state = isUnanswered(cause) ? 'unknown' : 'failed'
    return { state, reason: message, isDaemonFailure: cause instanceof DaemonError }
  }
}

async function runAction(panel: Panel, { server, node }: ServerOnNode, step: ScheduleStep): Promise<void> {
  const daemon = panel.daemon(node)
  switch (step.action) {
    case 'command':
      return daemon.sendCommands(server.uuid, [step.payload])
    case 'power':
      await daemon.setPower(server.uuid, step.payload as PowerSignal)
      return invalidateStats(panel, server)
    case 'backup':
      return startScheduledBackup(panel, { server, node }, { stepId: step.id, ignored: step.payload })
  }
}

/** Whether the daemon reports the server as running or starting; false when the daemon does not answer. */
export async function isOnline(panel: Panel, { server, node }: ServerOnNode): Promise<boolean> {
  try {
    const { state } = await panel.daemon(node).showServer(server.uuid)
    return state === 'running' || state === 'starting'
  } catch (error) {
    if (error instanceof DaemonError) return false
    throw error
  }
}
