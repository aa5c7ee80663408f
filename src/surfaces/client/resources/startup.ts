import * as z from 'zod'
import type { EggVariable } from '../../../db/tables/egg-variables.ts'
import { type GrantedPermissions, isGranted } from '../../../domain/permissions.ts'
import { renderStartup } from '../../../domain/servers/invocation.ts'
import type { ServerStartup } from '../../../domain/servers/startup-variables.ts'
import { EggVariableResource } from './egg-variable.ts'

const Commands = () => z.object({ startup_command: z.string(), raw_startup_command: z.string() })

/** Schema of the startup of a server. */
export const StartupList = () =>
  z.object({
    object: z.literal('list'),
    data: z.array(EggVariableResource.One()),
    meta: Commands().extend({ docker_images: z.record(z.string(), z.string()) }),
  })

/** Presents the variables that users may view, and the startup command. */
export const presentStartup = (startup: ServerStartup, permissions: GrantedPermissions) => ({
  ...EggVariableResource.list(
    startup.variables
      .filter(({ userViewable }) => userViewable)
      .map((variable) => ({ variable, server: startup.server })),
  ),
  meta: { ...commandsOf(startup, permissions), docker_images: startup.dockerImages },
})

/** Schema of a changed variable. */
export const VariableWithMeta = () => EggVariableResource.One().and(z.object({ meta: Commands() }))

/** Presents a variable after a change: an empty value is null. */
export const presentVariable = (
  { startup, variable }: { startup: ServerStartup; variable: EggVariable },
  permissions: GrantedPermissions,
) => {
  const { [variable.envVariable]: value, ...variables } = startup.server.variables
  const server = value === '' ? { variables } : startup.server
  return {
    ...EggVariableResource.one({ variable, server }),
    meta: commandsOf(startup, permissions),
  }
}

/** Hides values in the command from callers who may not read them. */
const commandsOf = (startup: ServerStartup, permissions: GrantedPermissions) => ({
  startup_command: renderStartup(startup, { hideVariables: !isGranted(permissions, 'startup.read') }),
  raw_startup_command: startup.server.startup,
})
