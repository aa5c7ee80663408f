import type { Facts } from './move.ts'
import type { SourceRow, Spool } from './spool.ts'
import { numberOrNull, textOf } from './values.ts'

/** Reads what the rows of one table need of others: identifiers and names alone. */
export async function readFacts(spool: Spool): Promise<Facts> {
  const facts: Facts = {
    allocationServers: new Map(),
    variableNames: new Map(),
    serverVariables: new Map(),
    userRoles: new Map(),
    roleNames: new Map(),
    rolePermissions: new Map(),
    disks: new Map(),
    hostNodes: new Map(),
  }
  const each = async (table: string, read: (row: SourceRow) => void) => {
    for await (const rows of spool.batches(table, 2000)) for (const row of rows) read(row)
  }
  await each('allocations', (row) =>
    facts.allocationServers.set(Number(row.id), numberOrNull(row, 'server_id')),
  )
  await each('egg_variables', (row) => facts.variableNames.set(Number(row.id), textOf(row, 'env_variable')))
  await each('server_variables', (row) => {
    const [server, name] = [Number(row.server_id), facts.variableNames.get(Number(row.variable_id))]
    if (name === undefined) return
    const values = facts.serverVariables.get(server) ?? {}
    facts.serverVariables.set(server, { ...values, [name]: textOf(row, 'variable_value') })
  })
  await each('roles', (row) => facts.roleNames.set(Number(row.id), textOf(row, 'name')))
  await each('model_has_roles', (row) => append(facts.userRoles, Number(row.model_id), Number(row.role_id)))
  const permissions = new Map<number, string>()
  await each('permissions', (row) => permissions.set(Number(row.id), textOf(row, 'name')))
  await each('role_has_permissions', (row) =>
    append(facts.rolePermissions, Number(row.role_id), permissions.get(Number(row.permission_id)) ?? ''),
  )
  await each('backup_hosts', (row) => facts.disks.set(Number(row.id), textOf(row, 'schema')))
  await each('database_host_node', (row) =>
    facts.hostNodes.set(Number(row.database_host_id), Number(row.node_id)),
  )
  return facts
}

function append<Value>(map: Map<number, Value[]>, key: number, value: Value): void {
  map.set(key, [...(map.get(key) ?? []), value])
}
