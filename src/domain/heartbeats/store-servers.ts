import { type SQL, sql } from 'drizzle-orm'
import { gameQueries, jobs, servers, serverSamples, serverStates } from '../../db/schema.ts'
import { processStates } from '../../db/tables/server-states.ts'
import type { Panel } from '../../panel.ts'
import type { NodeHeartbeat } from './check-nodes.ts'
import { hourOf } from './store.ts'

/** Games that are asked again with a sample, those first that were not asked for longest. */
const maxAskedGames = 100
/** Seconds until the deadline of such a question: the next sample asks again. */
const questionSeconds = 300
/** Servers in one statement, which bounds its size. */
const serversPerStatement = 5000

/**
 * Stores the states of the servers that nodes report, where they changed, and each `sampleMinutes` (never when null) a
 * sample of their usage, with which games that have answered are asked again. A node reports its own servers only. One
 * statement for 5,000 servers.
 */
export async function storeServerReports(
  panel: Panel,
  beats: NodeHeartbeat[],
  sampleMinutes: number | null,
): Promise<void> {
  const rows = beats.flatMap(({ node, beat }) =>
    ((beat.isUp && beat.servers) || []).map((server) => ({ node: node.id, ...server })),
  )
  const now = panel.now()
  const isSampled = sampleMinutes !== null && now.getUTCMinutes() % sampleMinutes === 0
  for (let at = 0; at < rows.length; at += serversPerStatement) {
    const reported = JSON.stringify(rows.slice(at, at + serversPerStatement))
    await panel.db.execute(statement(reported, now, isSampled ? sampleMinutes : null))
  }
}

const statement = (reported: string, now: Date, sampleMinutes: number | null): SQL => sql`
  with reported as materialized (
    select s.id as server_id, r.* from json_to_recordset(${reported}::json) as r (
      node int, uuid uuid, state smallint, "cpuAbsolute" real, "memoryBytes" bigint, "diskBytes" bigint,
      "networkRxBytes" bigint, "networkTxBytes" bigint, uptime bigint)
    inner join ${servers} s on s.uuid = r.uuid and s.node_id = r.node
  ), states as (
    insert into ${serverStates} as t (server_id, state, since)
    select server_id, (${stateNames})[state + 1], ${now.toISOString()}::timestamptz from reported
    on conflict (server_id) do update set state = excluded.state, since = excluded.since
    where t.state <> excluded.state and t.since < excluded.since
  )${sampleMinutes === null ? sql.empty() : sampled(now, sampleMinutes)}${sampleMinutes === null ? sql.empty() : asked(now)}
  select 1`

const stateNames = sql.raw(`array[${processStates.map((state) => `'${state}'`).join(', ')}]`)

/** Players are those of a game that was asked since the sample before. */
const sampled = (now: Date, sampleMinutes: number) => sql`, sampled as (
  insert into ${serverSamples} as s (server_id, hour, minutes, cpu, memory_bytes, disk_bytes, network_rx_bytes,
    network_tx_bytes, states, uptimes, players)
  select r.server_id, ${hourOf(now)}::timestamptz, array[${now.getUTCMinutes()}::smallint], array["cpuAbsolute"],
    array["memoryBytes"], array["diskBytes"], array["networkRxBytes"], array["networkTxBytes"], array[r.state],
    array[least(uptime / 1000, 2147483647)::int], array[q.players]
  from reported r left join ${gameQueries} q on q.server_id = r.server_id and q.status = 'online'
    and q.checked_at > ${after(now, -sampleMinutes * 60)}::timestamptz
  on conflict (server_id, hour) do update set minutes = s.minutes || excluded.minutes, cpu = s.cpu || excluded.cpu,
    memory_bytes = s.memory_bytes || excluded.memory_bytes, disk_bytes = s.disk_bytes || excluded.disk_bytes,
    network_rx_bytes = s.network_rx_bytes || excluded.network_rx_bytes,
    network_tx_bytes = s.network_tx_bytes || excluded.network_tx_bytes, states = s.states || excluded.states,
    uptimes = s.uptimes || excluded.uptimes, players = ${paddedPlayers} || excluded.players
  where s.minutes[cardinality(s.minutes)] < excluded.minutes[1]
)`

/** Enqueues `query-game` for running servers whose game has answered a user: the next sample has their players. */
const asked = (now: Date) => sql`, asked as (
  insert into ${jobs} (name, payload, key, run_at, deadline_at)
  select 'query-game', jsonb_build_object('serverId', server_id), 'query-game:' || server_id,
    ${now.toISOString()}::timestamptz, ${after(now, questionSeconds)}::timestamptz
  from (
    select q.server_id from reported r inner join ${gameQueries} q on q.server_id = r.server_id
    where r.state = ${running} and q.status = 'online' and q.checked_at <= ${after(now, -60)}::timestamptz
    order by q.checked_at limit ${sql.raw(String(maxAskedGames))}
  ) known
  on conflict (key) where state = 'waiting' do nothing
)`

const running = sql.raw(String(processStates.indexOf('running')))
const after = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString()

/** The previous version of the panel adds samples without players. */
const paddedPlayers = sql.raw(`coalesce(s.players, '{}')
  || array_fill(null::int, array[cardinality(s.minutes) - coalesce(cardinality(s.players), 0)])`)
