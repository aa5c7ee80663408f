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
  const values = new Map(
    variables.map((variable) => {
      const isHidden = options.hideVariables || !variable.userViewable
      return [variable.envVariable, isHidden ? '[hidden]' : variableValue(server, variable)]
    }),
  )
  values.set('SERVER_MEMORY', String(server.memory))
  values.set('SERVER_IP', allocation.ip)
  values.set('SERVER_PORT', String(allocation.port))
  return server.startup.replace(
    /\{\{(\w+)\}\}/g,
    (placeholder: string, name: string) => values.get(name) ?? placeholder,
  )
}
