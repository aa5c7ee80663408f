import { sql, type SQL } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { pendingMigrationsAfter } from '../../db/migration-state.ts'
import { backups, jobs, nodeHeartbeats, nodes, servers, transfers } from '../../db/schema.ts'
import type { AclResource } from '../../db/tables/api-keys.ts'
import type { Panel } from '../../panel.ts'
import { hasAccessLevel } from '../auth/access-levels.ts'
import { certificateWarningDays } from '../heartbeats/certificates.ts'
import { readLastTick } from '../jobs/tick-history.ts'

/** Rows that are counted, and that are shown, of each concern. */
const maxCounted = 1000
const maxShown = 10

const hours = (count: number) => sql.raw(`interval '${count} hours'`)

/** What can need attention, with the level that its readers need and the page that lists it. */
const concerns = {
  nodes_down: { acl: 'nodes', severity: 'critical', object: 'node' },
  nodes_unknown: { acl: 'nodes', severity: 'warning', object: 'node' },
  certificates_ended: { acl: 'nodes', severity: 'critical', object: 'node' },
  certificates_ending: { acl: 'nodes', severity: 'warning', object: 'node' },
  clocks_off: { acl: 'nodes', severity: 'warning', object: 'node' },
  versions_behind: { acl: 'nodes', severity: 'warning', object: 'node' },
  jobs_dead: { acl: 'jobs', severity: 'warning', object: 'job' },
  jobs_late: { acl: 'jobs', severity: 'warning', object: 'job' },
  backups_failing: { acl: 'servers', severity: 'warning', object: 'server' },
  transfers_stuck: { acl: 'servers', severity: 'warning', object: 'server' },
  tick_late: { acl: 'settings', severity: 'critical', object: null },
  migrations_pending: { acl: 'settings', severity: 'critical', object: null },
  mail_missing: { acl: 'settings', severity: 'warning', object: null },
} as const satisfies Record<
  string,
  { acl: AclResource; severity: 'critical' | 'warning'; object: 'node' | 'job' | 'server' | null }
>
export type ConcernId = keyof typeof concerns
export const concernIds = Object.keys(concerns) as ConcernId[]

/** One row behind a concern; `detail` is a cause, a version, a number of seconds, an instant or an error. */
export type ConcernItem = { id: number | string; name: string; detail: string | null; since: string | null }
export type Concern = {
  id: ConcernId
  severity: 'critical' | 'warning'
  /** What the items are; null where it is about the panel. */
  object: 'node' | 'job' | 'server' | null
  /** At most 1,000. */
  count: number
  items: ConcernItem[]
}

/** Seconds after which the minute tick, and a job that is due, count as late. */
const maxTickAgeSeconds = 180
const maxJobLatenessSeconds = 300
/** Seconds by which a node's clock may differ. */
const maxClockOffset = 5

/**
 * Lists what needs attention, as far as the caller may read it; nothing waits for a node. One statement, and one call
 * to the cache.
 */
export async function readConcerns(panel: Panel): Promise<Concern[]> {
  const readable = concernIds.filter((id) => hasAccessLevel(panel.actor, concerns[id].acl, 'read'))
  const now = panel.now()
  const at = sql`${now.toISOString()}::timestamptz`
  const ofRows = readable.flatMap((id) => {
    const rows = rowsBehind(id, at)
    return rows ? [sql`select ${id}::text as id, (${summary(rows)}) as found`] : []
  })
  const parts = [
    ...ofRows,
    sql`select 'migrations', to_json((select max(created_at)::float8 from migrations))`,
  ]
  const [result, lastTick] = await Promise.all([
    panel.db.execute(sql.join(parts, sql` union all `)),
    readLastTick(panel).catch(() => null),
  ])
  const found = new Map(
    rowsOf<{ id: string; found: unknown }>(result).map(({ id, found: value }) => [id, value]),
  )
  const tickAge = lastTick ? (now.getTime() - lastTick.getTime()) / 1000 : 0
  const ofPanel = {
    tick_late: tickAge > maxTickAgeSeconds ? 1 : 0,
    migrations_pending: pendingMigrationsAfter(Number(parse(found.get('migrations')) ?? 0)),
    mail_missing: panel.config.sendsMail ? 0 : 1,
  }
  return readable.flatMap((id): Concern[] => {
    const { severity, object } = concerns[id]
    const { count, items } =
      id in ofPanel
        ? { count: ofPanel[id as keyof typeof ofPanel], items: [] }
        : (parse(found.get(id)) as Pick<Concern, 'count' | 'items'>)
    return count > 0 ? [{ id, severity, object, count, items }] : []
  })
}

const parse = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value)

/** Counts rows, and shows the first of them. */
const summary = (rows: SQL) => sql`
  select json_build_object('count', count(*), 'items', coalesce(json_agg(json_build_object(
    'id', id, 'name', name, 'detail', detail, 'since', since)) filter (where number <= ${sql.raw(String(maxShown))}), '[]'::json))
  from (select row_number() over () as number, rows.* from (${rows} limit ${sql.raw(String(maxCounted))}) rows) numbered`

/** Selects the rows behind a concern, the worst first; null for those about the panel. */
const rowsBehind = (id: ConcernId, at: SQL): SQL | null => rowsOfNodes(id, at) ?? rowsOfWork(id, at)

function rowsOfNodes(id: ConcernId, at: SQL): SQL | null {
  switch (id) {
    case 'nodes_down':
      return ofNodes(sql`h.cause`, sql`h.since`, sql`not h.is_up and not n.maintenance_mode order by h.since`)
    case 'nodes_unknown':
      return sql`select n.id, n.name, null::text as detail, n.created_at as since from ${nodes} n
        where not exists (select 1 from ${nodeHeartbeats} h where h.id = n.id) order by n.id`
    case 'certificates_ended':
      return ofNodes(
        endOfCertificate,
        sql`h.certificate_ends_at`,
        sql`h.certificate_ends_at <= ${at} order by h.certificate_ends_at`,
      )
    case 'certificates_ending':
      return ofNodes(
        endOfCertificate,
        sql`h.checked_at`,
        sql`h.certificate_ends_at > ${at} and h.certificate_ends_at < ${at} + ${hours(certificateWarningDays * 24)}
          order by h.certificate_ends_at`,
      )
    case 'clocks_off':
      return ofNodes(
        sql`h.clock_offset::text`,
        sql`h.checked_at`,
        sql`h.is_up and abs(h.clock_offset) > ${sql.raw(String(maxClockOffset))} order by abs(h.clock_offset) desc`,
      )
    case 'versions_behind':
      return ofNodes(sql`h.version`, sql`h.checked_at`, sql`h.is_up and ${isOldVersion} order by h.id`)
    default:
      return null
  }
}

function rowsOfWork(id: ConcernId, at: SQL): SQL | null {
  switch (id) {
    case 'jobs_dead':
      return sql`select id, name, last_error as detail, finished_at as since from ${jobs}
        where state = 'dead' order by finished_at desc`
    case 'jobs_late':
      return sql`select id, name, last_error as detail, run_at as since from ${jobs}
        where state = 'waiting' and leased_until is null
          and run_at < ${at} - ${sql.raw(`interval '${maxJobLatenessSeconds} seconds'`)} order by run_at`
    case 'backups_failing':
      return sql`select s.id, s.name, max(b.name) as detail, max(b.completed_at) as since
        from ${backups} b inner join ${servers} s on s.id = b.server_id
        where not b.is_successful and b.completed_at > ${at} - ${hours(24)} and not exists (
          select 1 from ${backups} later
          where later.server_id = b.server_id and later.is_successful and later.created_at > b.created_at)
        group by s.id order by since desc`
    case 'transfers_stuck':
      return sql`select s.id, s.name, null::text as detail, t.created_at as since
        from ${transfers} t inner join ${servers} s on s.id = t.server_id
        where t.successful is null and t.created_at < ${at} - ${hours(2)} order by t.created_at`
    default:
      return null
  }
}

const ofNodes = (detail: SQL, since: SQL, condition: SQL) => sql`
  select n.id, n.name, ${detail} as detail, ${since} as since
  from ${nodeHeartbeats} h inner join ${nodes} n on n.id = h.id where ${condition}`

const endOfCertificate = sql.raw(
  `to_char(h.certificate_ends_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
)

/** Older than 1.12, the first version that does all the panel asks for. */
const isOldVersion = sql.raw(`(
  case when h.version ~ '^v?[0-9]{1,4}\\.[0-9]{1,4}' then
    substring(h.version from '^v?([0-9]+)')::int * 10000 + substring(h.version from '^v?[0-9]+\\.([0-9]+)')::int < 10012
  else false end)`)
