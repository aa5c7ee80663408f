import { type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { type DataColumn, readColumn } from '../../db/data-column.ts'
import { jsonColumn } from '../../db/json.ts'
import { nodes, nodeSamples, servers, serverSamples } from '../../db/schema.ts'
import { processStates } from '../../db/tables/server-states.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

/** Seconds of each period, and of the steps in which it is shown. */
export const periods = {
  '1h': { seconds: 3600, step: 60 },
  '24h': { seconds: 86_400, step: 300 },
  '7d': { seconds: 604_800, step: 3600 },
  '30d': { seconds: 2_592_000, step: 14_400 },
} as const
export type Period = keyof typeof periods

/** Seconds between two samples above which nothing is known of the traffic between them. */
const maxGapSeconds = 3 * 3600

/** Spec: docs/nodes.md#statistics. */
export const StatisticsQuery = () =>
  z.object({
    period: z.enum(Object.keys(periods) as [Period, ...Period[]]).default('24h'),
  })

/** Usage in one step: means of its samples, and bytes per second. Steps without a sample are left out. */
export type UsagePoint = {
  /** Seconds since 1970 at the beginning of the step. */
  at: number
  cpu: number
  maxCpu: number
  memoryBytes: number
  maxMemoryBytes: number
  diskBytes: number
  /** Null where the samples before and after do not tell. */
  rxRate: number | null
  txRate: number | null
}
export type NodePoint = UsagePoint & { runningServers: number }
/** `running` is the share of samples in which the process ran; `starts` how often it was started. */
export type ServerPoint = UsagePoint & {
  running: number
  starts: number
  /** Null where the game was not asked. */
  players: number | null
  maxPlayers: number | null
}

export type Statistics<Point> = { period: Period; points: Point[] }

/** Reads the stored usage of a node. Refuses with 404. One statement. */
export async function readNodeStatistics(
  panel: Panel,
  id: number,
  period: Period,
): Promise<Statistics<NodePoint>> {
  const { known, points } = await readColumn(panel.db, nodeStatisticsColumn(panel, id, period))
  if (!known) throw notFound()
  return { period, points }
}

/** Reads the stored usage of a server, as `readNodeStatistics`. */
export async function readServerStatistics(
  panel: Panel,
  id: number,
  period: Period,
): Promise<Statistics<ServerPoint>> {
  const { known, points } = await readColumn(panel.db, serverStatisticsColumn(panel, id, period))
  if (!known) throw notFound()
  return { period, points }
}

type Found<Point> = { known: boolean; points: Point[] }
const { placeholder } = sql

const nodeStatisticsColumn = (panel: Panel, id: number, period: Period): DataColumn<Found<NodePoint>> => ({
  name: 'node_statistics',
  column: () =>
    statisticsColumn(
      sql`select 1 from ${nodes} where id = ${placeholder('id')}`,
      usagePoints({
        table: sql`${nodeSamples}`,
        owner: sql`node_id = ${placeholder('id')}`,
        extras: ['running_servers'],
        extraPoints: sql`'runningServers', round(avg(running_servers), 1)`,
      }),
    ),
  values: { id, ...statisticsValues(panel, period) },
})

const serverStatisticsColumn = (
  panel: Panel,
  id: number,
  period: Period,
): DataColumn<Found<ServerPoint>> => ({
  name: 'server_statistics',
  column: () =>
    statisticsColumn(
      sql`select 1 from ${servers} where id = ${placeholder('id')}`,
      serverPoints(sql`${placeholder('id')}`),
    ),
  values: { id, ...statisticsValues(panel, period) },
})

const statisticsColumn = <Point>(known: SQL, points: SQL) =>
  jsonColumn<Found<Point>>(sql`select json_build_object('known', exists (${known}), 'points', ${points})`)

const running = sql.raw(String(processStates.indexOf('running')))
/** Returns the values of the placeholders of `usagePoints`. */
export const statisticsValues = (panel: Panel, period: Period) => ({
  step: periods[period].step,
  since: new Date(panel.now().getTime() - periods[period].seconds * 1000).toISOString(),
})

/** Selects the points of a server as a JSON array; `id` is an expression, such as a column of an outer statement. */
export const serverPoints = (id: SQL): SQL =>
  usagePoints({
    table: sql`${serverSamples}`,
    owner: sql`server_id = ${id}`,
    extras: ['states', 'uptimes', 'players'],
    extraPoints: sql`'running', round(avg((states = ${running})::int), 3),
      'starts', count(*) filter (where states = ${running} and (previous_uptimes > uptimes or previous_states <> ${running})),
      'players', round(avg(players), 1), 'maxPlayers', max(players)`,
    previous: sql`, lag(states) over samples as previous_states, lag(uptimes) over samples as previous_uptimes`,
  })

type Source = { table: SQL; owner: SQL; extras: string[]; extraPoints: SQL; previous?: SQL }

/** Selects points as a JSON array: unfolds the samples, and groups them by steps. */
function usagePoints({ table, owner, extras, extraPoints, previous = sql`` }: Source): SQL {
  const since = sql`${placeholder('since')}::timestamptz`
  const step = sql`${placeholder('step')}::int`
  const names = (prefix: string) => sql.raw(extras.map((name) => prefix + name).join(', '))
  return sql`coalesce((
    select json_agg(point order by step_at) from (
      select step_at, json_build_object('at', step_at, 'cpu', round(avg(cpu)::numeric, 2),
        'maxCpu', round(max(cpu)::numeric, 2), 'memoryBytes', round(avg(memory_bytes)),
        'maxMemoryBytes', max(memory_bytes), 'diskBytes', round(avg(disk_bytes)), 'rxRate', ${rate('rx')},
        'txRate', ${rate('tx')}, ${extraPoints}) as point
      from (
        select unfolded.*, floor(extract(epoch from at) / ${step}) * ${step} as step_at,
          lag(rx) over samples as previous_rx, lag(tx) over samples as previous_tx,
          extract(epoch from at - lag(at) over samples) as gap${previous}
        from (
          select s.hour + u.minute * interval '1 minute' as at, u.*
          from ${table} s, unnest(s.minutes, s.cpu, s.memory_bytes, s.disk_bytes, s.network_rx_bytes,
            s.network_tx_bytes, ${names('s.')}) as u (minute, cpu, memory_bytes, disk_bytes, rx, tx, ${names('')})
          where s.${owner} and s.hour >= ${since} - interval '1 hour'
        ) unfolded window samples as (order by at)
      ) sampled where at >= ${since} group by step_at
    ) steps
  ), '[]'::json)`
}

/** Bytes per second, over the pairs of samples between which the counter did not begin again. */
function rate(counter: 'rx' | 'tx'): SQL {
  const delta = sql.raw(`${counter} - previous_${counter}`)
  const isKnown = sql`filter (where ${delta} >= 0 and gap <= ${sql.raw(String(maxGapSeconds))})`
  return sql`round(sum(${delta}) ${isKnown} / nullif(sum(gap) ${isKnown}, 0))`
}
