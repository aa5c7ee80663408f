import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Location } from '../../db/tables/locations.ts'
import type { Server } from '../../db/tables/servers.ts'

export type EnvironmentSource = {
  server: Pick<Server, 'uuid' | 'startup' | 'allocationLimit' | 'variables'>
  variables: Pick<EggVariable, 'envVariable' | 'defaultValue'>[]
  location: Pick<Location, 'short'>
}
/** Environment by name; only the panel's own variables may be numbers or null. */
export type Environment = Record<string, string | number | null>

/** Returns the value a server uses for a variable: its own, also when empty, else the egg's default. */
export function variableValue(
  server: Pick<Server, 'variables'>,
  variable: Pick<EggVariable, 'envVariable' | 'defaultValue'>,
): string {
  const own = Object.hasOwn(server.variables, variable.envVariable)
  return (own ? server.variables[variable.envVariable] : null) ?? variable.defaultValue
}

/**
 * Builds the environment as the Application API shows it: variables of the egg, then the panel's own, which
 * win. `P_SERVER_ALLOCATION_LIMIT` is a number or null, all else text.
 */
export function serverEnvironment({ server, variables, location }: EnvironmentSource): Environment {
  return Object.fromEntries([
    ...variables.map((variable) => [variable.envVariable, variableValue(server, variable)] as const),
    ['STARTUP', server.startup],
    ['P_SERVER_LOCATION', location.short],
    ['P_SERVER_UUID', server.uuid],
    ['P_SERVER_ALLOCATION_LIMIT', server.allocationLimit],
  ])
}

/** Builds the environment for the daemon, which would write numbers as `3.000000`: text only, null as `''`. */
export function daemonEnvironment(source: EnvironmentSource): Record<string, string> {
  const entries = Object.entries(serverEnvironment(source))
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value ?? '')]))
}
