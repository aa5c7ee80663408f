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
 * The startup command as people see it: memory in MiB, address, port and variables filled in, `[hidden]` in
 * place of those the user may not view, or of all with `hideVariables`. Other placeholders stay as written,
 * and a value is never read for placeholders again. Spec: Client API, server resource `invocation`.
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
    (written: string, name: string) => values.get(name) ?? written,
  )
}
