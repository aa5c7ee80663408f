import * as z from 'zod'
import { DaemonError } from '../../adapters/daemon-error.ts'
import type { PowerSignal } from '../../adapters/daemon.ts'
import { ApiError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import type { Permission } from '../permissions.ts'
import type { ServerAccess } from './access.ts'
import { invalidateStats } from './stats.ts'

/** Permission for each signal; killing needs the same as stopping. Spec: docs/servers.md#control. */
export const powerPermissions = {
  start: 'control.start',
  stop: 'control.stop',
  restart: 'control.restart',
  kill: 'control.stop',
} as const satisfies Record<PowerSignal, Permission>

/** The power signal to send. Spec: postClientServersByServerPower. */
export const PowerInput = () => z.object({ signal: z.enum(['start', 'stop', 'restart', 'kill']) })

/** One line for the console; control characters could hide a second command. */
export const CommandInput = () =>
  z.object({
    command: z
      .string()
      .min(1, 'min')
      .max(4096, 'max')
      .regex(/^(?:\t|\P{Cc})*$/u, 'regex'),
  })

type Target = Pick<ServerAccess, 'server' | 'node'>

/**
 * Sends a power signal to the server's daemon; the console shows the outcome. Records `server:power.<signal>`.
 * Refuses with the daemon's status, with 504 when it does not answer. Wings: POST …/power.
 */
export async function sendPowerSignal(
  panel: Panel,
  { server, node }: Target,
  signal: PowerSignal,
): Promise<void> {
  await panel
    .daemon(node)
    .setPower(server.uuid, signal)
    .catch((error: unknown) => {
      throw toDaemonApiError(error)
    })
  await invalidateStats(panel, server)
  await recordEvent(panel, `server:power.${signal}`, { serverId: server.id })
}

/**
 * Sends a command to the server's console. Records `server:console.command`. Refuses with 502 while the server
 * is stopped, and as `sendPowerSignal` does. Wings: POST …/commands.
 */
export async function sendCommand(panel: Panel, { server, node }: Target, command: string): Promise<void> {
  await panel
    .daemon(node)
    .sendCommands(server.uuid, [command])
    .catch((error: unknown) => {
      throw toDaemonApiError(toStoppedApiError(error))
    })
  await recordEvent(panel, 'server:console.command', { serverId: server.id, properties: { command } })
}

/** Detail of the 502 for a stopped server. Schedules match stored reasons by it. */
export const serverStoppedDetail = 'The server must be running to take commands.'

/** Converts the daemon's 502, which says that the server is stopped; returns anything else as it is. */
export function toStoppedApiError(error: unknown): unknown {
  if (!(error instanceof DaemonError) || error.status !== 502) return error
  const meta = { reason: 'server_stopped' } as const
  return new ApiError(502, [{ code: 'HttpException', detail: serverStoppedDetail, meta }], { cause: error })
}
