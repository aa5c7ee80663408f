import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Location } from '../../db/tables/locations.ts'
import type { Server } from '../../db/tables/servers.ts'
import { plainCopy } from '../../db/json.ts'

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
  const environment = { ...defaultEnvironment(variables) }
  for (const [name, value] of Object.entries(server.variables)) {
    if (Object.hasOwn(environment, name)) environment[name] = value ?? environment[name] ?? null
  }
  environment.STARTUP = server.startup
  environment.P_SERVER_LOCATION = location.short
  environment.P_SERVER_UUID = server.uuid
  environment.P_SERVER_ALLOCATION_LIMIT = server.allocationLimit
  return environment
}

const defaultEnvironments = new WeakMap<EnvironmentSource['variables'], Environment>()

/** Returns all names with the defaults of the egg, made once for the servers of a page that share its variables. */
function defaultEnvironment(variables: EnvironmentSource['variables']): Environment {
  const known = defaultEnvironments.get(variables)
  if (known) return known
  const own = ['STARTUP', 'P_SERVER_LOCATION', 'P_SERVER_UUID', 'P_SERVER_ALLOCATION_LIMIT']
  const environment = plainCopy(
    Object.fromEntries([
      ...variables.map(({ envVariable, defaultValue }) => [envVariable, defaultValue] as const),
      ...own.map((name) => [name, null] as const),
    ]),
  )
  defaultEnvironments.set(variables, environment)
  return environment
}

type Variables = EnvironmentSource['variables']
/** Servers of a page that have the same egg share its variables. */
const namedVariables = new WeakMap<object, Map<string, Variables[number]>>()

/** Returns the variables of an egg by their names. */
export function variablesByName<Variable extends Variables[number]>(
  variables: Variable[],
): Map<string, Variable> {
  const known = namedVariables.get(variables)
  if (known) return known as Map<string, Variable>
  const byName = new Map(variables.map((variable) => [variable.envVariable, variable] as const))
  namedVariables.set(variables, byName)
  return byName
}

/** Returns one value of `daemonEnvironment`, without the others; undefined for a name that it does not have. */
export function daemonEnvironmentValue(source: EnvironmentSource, name: string): string | undefined {
  const { server, variables, location } = source
  if (name === 'STARTUP') return server.startup
  if (name === 'P_SERVER_LOCATION') return location.short
  if (name === 'P_SERVER_UUID') return server.uuid
  if (name === 'P_SERVER_ALLOCATION_LIMIT') return String(server.allocationLimit ?? '')
  const variable = variablesByName(variables).get(name)
  return variable && variableValue(server, variable)
}

/** Builds the environment for the daemon, which would write numbers as `3.000000`: text only, null as `''`. */
export function daemonEnvironment(source: EnvironmentSource): Record<string, string> {
  const environment = serverEnvironment(source)
  for (const name of Object.keys(environment)) {
    const value = environment[name]
    if (typeof value !== 'string') environment[name] = String(value ?? '')
  }
  return environment as Record<string, string>
}
