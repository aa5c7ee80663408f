import * as z from 'zod'
import type { EggVariable } from '../../../db/tables/egg-variables.ts'
import type { Server } from '../../../db/tables/servers.ts'
import { resource } from '../../../http/resource.ts'

type ShownVariable = Pick<
  EggVariable,
  'name' | 'description' | 'envVariable' | 'defaultValue' | 'userEditable' | 'rules'
>

/** A variable that users may view; `server_value` is null while the server has no value of its own. */
export const EggVariableResource = resource(
  'egg_variable',
  () =>
    z.object({
      name: z.string(),
      description: z.string(),
      env_variable: z.string(),
      default_value: z.string(),
      server_value: z.string().nullable(),
      is_editable: z.boolean(),
      rules: z.string(),
    }),
  ({ variable, server }: { variable: ShownVariable; server: Pick<Server, 'variables'> }) => ({
    name: variable.name,
    description: variable.description,
    env_variable: variable.envVariable,
    default_value: variable.defaultValue,
    server_value: Object.hasOwn(server.variables, variable.envVariable)
      ? (server.variables[variable.envVariable] ?? null)
      : null,
    is_editable: variable.userEditable,
    rules: variable.rules,
  }),
)
