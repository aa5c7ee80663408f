import { sql } from 'drizzle-orm'
import { only, rowsOf } from '../db/database.ts'
import { activity, servers, subusers, throttles, users } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import { log } from '../log.ts'
import type { Panel } from '../panel.ts'
import { readReport } from './activity-reports.ts'
import { digest } from './secrets.ts'

/** Ten times what a daemon sends at once. */
const mostEntries = 1000
const rememberedMilliseconds = 48 * 3_600_000
/** Entries of one node in a day: several times what a daemon sends that is busy all the time. */
export const mostEntriesADay = 500_000
const dayInMilliseconds = 86_400_000

/**
 * Adds what a daemon reports to the audit log, in one statement; entries that come again within two days add
 * nothing. Drops entries that cannot be stored, and those of servers which are not the node's. An actor is
 * kept only if he may reach the server, or did something there in the last two days. Once a node has added half
 * a million within a day its further ones are dropped, which is logged. Spec: Remote API, activity. Wings: POST
 * /activity.
 */
export async function recordReports(panel: Panel, node: Node, entries: unknown[]): Promise<void> {
  const now = panel.now()
  const remembered = sql`${new Date(now.getTime() - rememberedMilliseconds).toISOString()}::timestamptz`
  const reports = entries.slice(0, mostEntries).flatMap((entry) => {
    const report = readReport(entry, now)
    return report ? [{ ...report, digest: digestOf(node, entry) }] : []
  })
  if (reports.length === 0) return
  const cap = dailyCap(node, now)
  const result = await panel.db.execute(sql`
    with added as (insert into ${activity} (timestamp, event, ip, source, actor_id, server_id, node_id, properties, digest)
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
    where not ${cap.isReached} and not exists (
      select 1 from ${activity} earlier where earlier.digest = report.digest and earlier.timestamp > ${remembered}
    )
    order by report.position
    on conflict do nothing returning 1)
    ${cap.countAdded}`)
  const { hits } = only(rowsOf<{ hits: number }>(result))
  if (hits >= mostEntriesADay) warn(node, hits)
}

/** Of the entries which the statement adds; those of several batches at once may go a little beyond it. */
function dailyCap(node: Node, now: Date) {
  const key = `activity:${node.id}`
  const isOver = sql`${throttles.resetsAt} <= ${now.toISOString()}::timestamptz`
  const resetsAt = new Date(now.getTime() + dayInMilliseconds).toISOString()
  return {
    isReached: sql`exists (
      select 1 from ${throttles}
      where ${throttles.key} = ${key} and ${throttles.hits} >= ${mostEntriesADay} and not ${isOver}
    )`,
    countAdded: sql`
      insert into ${throttles} (key, hits, resets_at)
      select ${key}, count(*)::int, ${resetsAt}::timestamptz from added
      on conflict (key) do update set
        hits = case when ${isOver} then excluded.hits else ${throttles.hits} + excluded.hits end,
        resets_at = case when ${isOver} then excluded.resets_at else ${throttles.resetsAt} end
      returning hits`,
  }
}

function warn(node: Node, hits: number): void {
  const message = 'A node reports more activity than it may in a day: the rest is dropped.'
  log('warn', message, { node: node.uuid, entries: hits })
}

/** Of what was sent, not of what is stored: the time of a late entry is another one each time. */
function digestOf(node: Node, entry: unknown): string {
  const { server, user, event, metadata, ip, timestamp } = entry as Record<string, unknown>
  return digest(JSON.stringify([node.id, server, user, event, metadata, ip, timestamp]))
}
