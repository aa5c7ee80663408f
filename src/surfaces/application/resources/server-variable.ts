import * as z from 'zod'
import type { ServerFields } from '../../../db/relations.ts'
import type { EggVariable } from '../../../db/tables/egg-variables.ts'
import type { Server } from '../../../db/tables/servers.ts'
import { resource } from '../../../http/resource.ts'
import { variableAttributes, variableShape } from './egg-variable.ts'

/** A variable of the server's egg with the server's own value, or null without one. */
export const ServerVariableResource = resource(
  'server_variable',
  () => z.object({ ...variableShape(), server_value: z.string().nullable() }),
  (row: EggVariable & { serverValue: string | null }) => ({
    ...variableAttributes(row),
    server_value: row.serverValue,
  }),
)

/** Returns the variables of a server with their values. */
export const variablesOf = (server: Server & ServerFields) =>
  server.egg.variables.map((variable) => ({
    ...variable,
    serverValue: server.variables[variable.envVariable] ?? null,
  }))
