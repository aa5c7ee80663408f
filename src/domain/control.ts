import * as z from 'zod'
import { DaemonError, type PowerSignal } from '../adapters/daemon.ts'
import { ApiError } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { record } from './activity.ts'
import type { ReachedServer } from './credentials.ts'
import { refuseDaemonFailure } from './daemon-errors.ts'
import type { Permission } from './permissions.ts'
import { expectChange } from './stats.ts'

/** What each signal needs: a forced stop is a stop. Spec: Client API, server control. */
export const powerPermissions = {
  start: 'control.start',
  stop: 'control.stop',
  restart: 'control.restart',
  kill: 'control.stop',
} as const satisfies Record<PowerSignal, Permission>

/** Spec: Client API, server control: power. */
export const PowerInput = () => z.object({ signal: z.enum(['start', 'stop', 'restart', 'kill']) })

/** One line for the console: a second one, or a control character, would be an order of its own. */
export const CommandInput = () =>
  z.object({
    command: z
      .string()
      .min(1, 'min')
      .max(4096, 'max')
      .regex(/^(?:\t|\P{Cc})*$/u, 'regex'),
  })

type Target = Pick<ReachedServer, 'server' | 'node'>

/**
 * The daemon has accepted the signal; what comes of it the console shows. Records `server:power.<signal>`.
 * Refuses with what the daemon refuses with, and 504 when it does not answer. Wings: POST …/power.
 */
export async function sendPowerSignal(
  panel: Panel,
  { server, node }: Target,
  signal: PowerSignal,
): Promise<void> {
  await panel.daemon(node).setPower(server.uuid, signal).catch(refuseDaemonFailure)
  await expectChange(panel, server)
  await record(panel, `server:power.${signal}`, { serverId: server.id })
}

/**
 * The daemon has written the line to the console. Records `server:console.command`. Refuses with 502 while
 * the server is stopped, and as `sendPowerSignal` does. Wings: POST …/commands.
 */
export async function sendCommand(panel: Panel, { server, node }: Target, command: string): Promise<void> {
  await panel
    .daemon(node)
    .sendCommands(server.uuid, [command])
    .catch(refuseStopped)
    .catch(refuseDaemonFailure)
  await record(panel, 'server:console.command', { serverId: server.id, properties: { command } })
}

/** Why nobody takes a command. */
export const stopped = 'The server must be running to take commands.'

/** For `.catch`: the daemon's word for a console that nobody listens to is 502. */
export function refuseStopped(error: unknown): never {
  if (!(error instanceof DaemonError) || error.status !== 502) throw error
  throw new ApiError(502, [{ code: 'HttpException', detail: stopped }], { cause: error })
}
