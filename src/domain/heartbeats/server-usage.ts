import { type SQL, sql } from 'drizzle-orm'
import type { DataColumn } from '../../db/data-column.ts'
import { jsonColumn } from '../../db/json.ts'
import { activity, servers, serverSamples } from '../../db/schema.ts'
import { processStates } from '../../db/tables/server-states.ts'
import type { Panel } from '../../panel.ts'
import { type Period, type ServerPoint, serverPoints, statisticsValues } from './statistics.ts'

/** Changes that are shown at most, the newest. */
const maxChanges = 200
/** Seconds between two samples above which it is unknown why the process ended. */
const maxGapSeconds = 3600
/** Seconds before the earlier sample within which a stop was requested that ended after it. */
const stopSeconds = 300

export const processChanges = ['start', 'restart', 'stop', 'crash'] as const

/**
 * A change of a server's process that its samples show. `crash`: it ended, or began again, and neither a power signal,
 * a command to stop, a schedule, a restoration nor a reinstallation explains it.
 */
export type ProcessChange = {
  /** Seconds since 1970: exact for a start, that of the first sample afterwards for an end. */
  at: number
  change: (typeof processChanges)[number]
}
export type ServerUsage = { points: ServerPoint[]; changes: ProcessChange[] }

/** Selects the stored usage of a server (`servers`) and the changes of its process. Spec: docs/servers.md#usage-over-time. */
export const serverUsageColumn = (panel: Panel, period: Period): DataColumn<ServerUsage> => ({
  name: 'server_usage',
  column: () =>
    jsonColumn<ServerUsage>(
      sql`select json_build_object('points', ${serverPoints(sql`${servers.id}`)}, 'changes', ${changes()})`,
    ),
  values: statisticsValues(panel, period),
})

const number = (value: number) => sql.raw(String(value))
const offline = number(processStates.indexOf('offline'))
const stopping = number(processStates.indexOf('stopping'))
const since = sql`${sql.placeholder('since')}::timestamptz`

/** Whether the process is younger than the sample before; samples know the minute only. */
const hasBegunBetween = sql`at - uptime * interval '1 second' > previous_at + interval '1 minute'`

/** Selects the changes as a JSON array: each where the process runs and did not before, anew, or no longer. */
const changes = (): SQL => sql`coalesce((
  select json_agg(json_build_object('at', floor(extract(epoch from happened_at)), 'change', change) order by happened_at)
  from (
    select happened_at, case
      when state <> ${offline} and previous_state = ${offline} then 'start'
      when gap > ${number(maxGapSeconds)} or previous_state = ${stopping} or ${isRequested}
        then case when state = ${offline} then 'stop' else 'restart' end
      else 'crash' end as change
    from (
      select sampled.*, case when state = ${offline} then at
        else greatest(previous_at, at - uptime * interval '1 second') end as happened_at
      from (
        select at, state, uptime, lag(at) over samples as previous_at, lag(state) over samples as previous_state,
          lag(uptime) over samples as previous_uptime, extract(epoch from at - lag(at) over samples) as gap
        from (
          select s.hour + u.minute * interval '1 minute' as at, u.state, u.uptime
          from ${serverSamples} s, unnest(s.minutes, s.states, s.uptimes) as u (minute, state, uptime)
          where s.server_id = ${servers.id} and s.hour >= ${since} - interval '1 hour'
        ) unfolded window samples as (order by at)
      ) sampled
      where at >= ${since} and case when state = ${offline} then previous_state <> ${offline}
        else previous_state = ${offline} or uptime < previous_uptime or ${hasBegunBetween} end
      order by at desc limit ${number(maxChanges)}
    ) changed
  ) named
), '[]'::json)`

/** Whether a user, or the panel itself, ended the process between the two samples. */
const isRequested = sql`exists (
  select 1 from ${activity} a where a.server_id = ${servers.id}
  and a.timestamp between previous_at - ${number(stopSeconds)} * interval '1 second' and at
  and (a.event in ('server:power.stop', 'server:power.restart', 'server:power.kill', 'server:schedule.execute',
      'server:reinstall', 'server:backup.restore', 'server:backup.restore-started')
    or (a.event = 'server:console.command'
      and ltrim(lower(a.properties ->> 'command'), '/ ') ~ '^(stop|end|quit|exit|shutdown|restart)\\y'))
)`
