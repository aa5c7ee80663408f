import * as z from 'zod'
import type { ConfigureCommand } from '../../../domain/nodes/configure-command.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** The command that makes Wings fetch its configuration. It contains a key, which is shown in this answer only. */
export const ConfigureCommandResource = resource(
  'configure_command',
  () => z.object({ command: z.string(), expires_at: Timestamp() }),
  ({ command, expiresAt }: ConfigureCommand) => ({ command, expires_at: timestamp(expiresAt) }),
)
