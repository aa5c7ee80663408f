import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Server } from '../../db/tables/servers.ts'
import { variableValue } from './environment.ts'

export type StartupSource = {
  server: Pick<Server, 'startup' | 'memory' | 'variables'>
  variables: Pick<EggVariable, 'envVariable' | 'defaultValue' | 'userViewable'>[]
  allocation: Pick<Allocation, 'ip' | 'port'>
}

/**
 * Renders the startup command for users: fills in memory in MiB, address, port and variables; `[hidden]`
 * replaces variables the user may not view, or all with `hideVariables`. Other placeholders stay, and values
 * are not searched for placeholders. Spec: docs/servers.md#variables.
 */
export function renderStartup(source: StartupSource, options: { hideVariables: boolean }): string {
  const { server, variables, allocation } = source
  const { memory, startup } = server
  const byName = variablesByName(variables)
  const valueOf = (name: string): string | undefined => {
    if (name === 'SERVER_MEMORY') return String(memory)
    if (name === 'SERVER_IP') return allocation.ip
    if (name === 'SERVER_PORT') return String(allocation.port)
    const variable = byName.get(name)
    if (!variable) return undefined
    return options.hideVariables || !variable.userViewable ? '[hidden]' : variableValue(server, variable)
  }
  return startup.replace(
    /\{\{(\w+)\}\}/g,
    (placeholder: string, name: string) => valueOf(name) ?? placeholder,
  )
}

type Variables = StartupSource['variables']
/** Servers of a page that have the same egg share its variables. */
const namedVariables = new WeakMap<Variables, Map<string, Variables[number]>>()

function variablesByName(variables: Variables): Map<string, Variables[number]> {
  const known = namedVariables.get(variables)
  if (known) return known
  const byName = new Map(variables.map((variable) => [variable.envVariable, variable] as const))
  namedVariables.set(variables, byName)
  return byName
}
