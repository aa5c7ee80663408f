import { sql } from 'drizzle-orm'
import { activity, servers, subusers, users } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Panel } from '../panel.ts'
import { readReport } from './activity-reports.ts'
import { digest } from './secrets.ts'

/** Ten times what a daemon sends at once. */
const mostEntries = 1000
const rememberedMilliseconds = 48 * 3_600_000

/**
 * Adds what a daemon reports to the audit log, in one statement; entries that come again within two days add
 * nothing. Drops entries that cannot be stored, and those of servers which are not the node's. An actor is
 * kept only if he may reach the server, or did something there in the last two days. Spec: Remote API,
 * activity. Wings: POST /activity.
 */
export async function recordReports(panel: Panel, node: Node, entries: unknown[]): Promise<void> {
  const now = panel.now()
  const remembered = sql`${new Date(now.getTime() - rememberedMilliseconds).toISOString()}::timestamptz`
  const reports = entries.slice(0, mostEntries).flatMap((entry) => {
    const report = readReport(entry, now)
    return report ? [{ ...report, digest: digestOf(node, entry) }] : []
  })
  if (reports.length === 0) return
  await panel.db.execute(sql`
    insert into ${activity} (timestamp, event, ip, source, actor_id, server_id, node_id, properties, digest)
    select report.at, report.event, report.ip, report.source, actor.id, server.id, server.node_id,
      report.properties, report.digest
    from rows from (
      jsonb_to_recordset(${JSON.stringify(reports)}::jsonb) as (
        at timestamptz, event text, ip text, source text, "user" uuid, server uuid, properties jsonb, digest text
      )
    ) with ordinality as report (at, event, ip, source, "user", server, properties, digest, position)
    join ${servers} server on server.uuid = report.server and server.node_id = ${node.id}
    left join ${users} actor on actor.uuid = report.user and (
      actor.root_admin or actor.id = server.owner_id
      or exists (select 1 from ${subusers} subuser where subuser.server_id = server.id and subuser.user_id = actor.id)
      or exists (
        select 1 from ${activity} earlier where earlier.actor_id = actor.id and earlier.server_id = server.id
        and earlier.timestamp > ${remembered}
      )
    )
    where not exists (
      select 1 from ${activity} earlier where earlier.digest = report.digest and earlier.timestamp > ${remembered}
    )
    order by report.position
    on conflict do nothing`)
}

/** Of what was sent, not of what is stored: the time of a late entry is another one each time. */
function digestOf(node: Node, entry: unknown): string {
  const { server, user, event, metadata, ip, timestamp } = entry as Record<string, unknown>
  return digest(JSON.stringify([node.id, server, user, event, metadata, ip, timestamp]))
}
