import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Server } from '../../db/tables/servers.ts'
import { variablesByName, variableValue } from './environment.ts'
import { parseTemplate } from './placeholders.ts'

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
  const byName = variablesByName(variables)
  const valueOf = (name: string): string | undefined => {
    if (name === 'SERVER_MEMORY') return String(server.memory)
    if (name === 'SERVER_IP') return allocation.ip
    if (name === 'SERVER_PORT') return String(allocation.port)
    const variable = byName.get(name)
    if (!variable) return undefined
    return options.hideVariables || !variable.userViewable ? '[hidden]' : variableValue(server, variable)
  }
  const { parts, rest } = parseTemplate(server.startup)
  let rendered = ''
  for (const { before, placeholder, key } of parts) rendered += before + (valueOf(key) ?? placeholder)
  return rendered + rest
}
