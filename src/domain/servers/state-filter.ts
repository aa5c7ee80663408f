import { inArray, or, type SQL, sql } from 'drizzle-orm'
import { servers, serverStates } from '../../db/schema.ts'
import { processStates } from '../../db/tables/server-states.ts'

/** Matches servers whose process is in one of the states; `unknown` is that of those that no node has reported. */
export function stateFilter(values: string[]) {
  const named = processStates.filter((state) => values.includes(state))
  const reported = (states: SQL) =>
    sql`(select 1 from ${serverStates} where ${serverStates.id} = ${servers.id}${states})`
  return or(
    named.length > 0 ? sql`exists ${reported(sql` and ${inArray(serverStates.state, named)}`)}` : undefined,
    // Beside `or false` PostgreSQL would look for each server by itself in place of joining both indexes.
    values.includes('unknown') ? sql`not exists ${reported(sql.empty())}` : undefined,
    named.length === 0 && !values.includes('unknown') ? sql`false` : undefined,
  )
}
