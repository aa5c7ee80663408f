import { DaemonError, type PowerSignal } from '../../adapters/daemon.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { ScheduleStep } from '../../db/tables/schedule-steps.ts'
import type { Server } from '../../db/tables/servers.ts'
import { ApiError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { startScheduledBackup } from '../backups/start.ts'
import { refuseStopped } from '../control.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { expectChange } from '../stats.ts'

type Target = { server: Server; node: Node }

/** What became of a step; an unknown one may have happened. */
export type Outcome = {
  state: 'succeeded' | 'failed' | 'unknown'
  reason: string | null
  /** Whether the node is at fault: such failures need not end the run. */
  isDaemonFailure: boolean
}

/** Does what a step asks for, with the authority of the server's owner. Throws only for faults of the panel. */
export async function perform(panel: Panel, target: Target, step: ScheduleStep): Promise<Outcome> {
  try {
    await act(panel, target, step)
    return { state: 'succeeded', reason: null, isDaemonFailure: false }
  } catch (error) {
    const refusal = refusalOf(error)
    if (!(refusal instanceof ApiError)) throw error
    const { cause, message } = refusal
    const isDaemonFailure = cause instanceof DaemonError
    const mayHaveHappened = isDaemonFailure && cause.status === null && cause.retryAfter === null
    return { state: mayHaveHappened ? 'unknown' : 'failed', reason: message, isDaemonFailure }
  }
}

/** The failure of a daemon in the words that people hear who do the same by hand. */
function refusalOf(error: unknown): unknown {
  try {
    return refuseDaemonFailure(error)
  } catch (refusal) {
    return refusal
  }
}

async function act(panel: Panel, { server, node }: Target, step: ScheduleStep): Promise<void> {
  const daemon = panel.daemon(node)
  switch (step.action) {
    case 'command':
      return daemon.sendCommands(server.uuid, [step.payload]).catch(refuseStopped)
    case 'power':
      await daemon.setPower(server.uuid, step.payload as PowerSignal)
      return expectChange(panel, server)
    case 'backup':
      return startScheduledBackup(panel, { server, node }, { stepId: step.id, ignored: step.payload })
  }
}

/** Whether the daemon says that the server runs or is about to; a daemon that says nothing counts as no. */
export async function isOnline(panel: Panel, { server, node }: Target): Promise<boolean> {
  try {
    const { state } = await panel.daemon(node).showServer(server.uuid)
    return state === 'running' || state === 'starting'
  } catch (error) {
    if (error instanceof DaemonError) return false
    throw error
  }
}
