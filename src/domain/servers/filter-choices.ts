import { eq, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import type { DataColumn } from '../../db/data-column.ts'
import { jsonColumn } from '../../db/json.ts'
import { eggs, nodes, servers } from '../../db/schema.ts'
import { scopeOf, type ServerScope, serverScopes } from './client-scope.ts'

/** Names by which a list of servers can be filtered, in alphabetical order, the first 500 of each. */
export type FilterChoices = { nodes: string[]; eggs: string[] }

const maxNames = 500

/** Spec: docs/servers.md#short-list. */
export const FilterChoicesQuery = () =>
  z.object({
    type: z
      .enum(serverScopes)
      .optional()
      .catch(undefined)
      .describe(`One of ${serverScopes.join(', ')}; others are ignored`)
      .meta({ acceptedAs: { type: 'string' } }),
  })

/** Selects the names of the nodes and eggs of the servers in the scope, for the caller of the statement (`users`). */
export const filterChoicesColumn = (scope: ServerScope): DataColumn<FilterChoices> => ({
  name: `server_filters_${scope}`,
  column: () =>
    jsonColumn<FilterChoices>(
      sql`select json_build_object('nodes', ${namesIn(scope, 'node')}, 'eggs', ${namesIn(scope, 'egg')})`,
    ),
  values: {},
})

function namesIn(scope: ServerScope, kind: 'node' | 'egg'): SQL {
  const [table, id] = kind === 'node' ? [nodes, servers.nodeId] : [eggs, servers.eggId]
  const { where } = scopeOf(scope, true)
  // A user has few servers; of all those of the panel one is enough to show a name.
  const isShown = scope.startsWith('admin')
    ? sql`exists (select 1 from ${servers} where ${eq(id, table.id)} and ${where})`
    : sql`${table.id} in (select ${id} from ${servers} where ${where})`
  return sql`coalesce((select json_agg(name order by lower(name), name) from (
    select distinct ${table.name} as name, lower(${table.name}) as sorted from ${table} where ${isShown}
    order by sorted, name limit ${sql.raw(String(maxNames))}
  ) shown), '[]'::json)`
}
