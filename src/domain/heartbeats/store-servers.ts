import { type SQL, sql } from 'drizzle-orm'
import { servers, serverSamples, serverStates } from '../../db/schema.ts'
import { processStates } from '../../db/tables/server-states.ts'
import type { Panel } from '../../panel.ts'
import type { NodeHeartbeat } from './check-nodes.ts'
import { hourOf } from './store.ts'

/** Servers in one statement, which bounds its size. */
const serversPerStatement = 5000

/**
 * Stores the states of the servers that nodes report, where they changed, and each `sampleMinutes` (never when null) a
 * sample of their usage. A node reports its own servers only. One statement for 5,000 servers.
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
    await panel.db.execute(statement(reported, now, isSampled))
  }
}

const statement = (reported: string, now: Date, isSampled: boolean): SQL => sql`
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
  )${isSampled ? sampled(now) : sql.empty()}
  select 1`

const stateNames = sql.raw(`array[${processStates.map((state) => `'${state}'`).join(', ')}]`)

const sampled = (now: Date) => sql`, sampled as (
  insert into ${serverSamples} as s (server_id, hour, minutes, cpu, memory_bytes, disk_bytes, network_rx_bytes,
    network_tx_bytes, states, uptimes)
  select server_id, ${hourOf(now)}::timestamptz, array[${now.getUTCMinutes()}::smallint], array["cpuAbsolute"],
    array["memoryBytes"], array["diskBytes"], array["networkRxBytes"], array["networkTxBytes"], array[state],
    array[least(uptime / 1000, 2147483647)::int] from reported
  on conflict (server_id, hour) do update set minutes = s.minutes || excluded.minutes, cpu = s.cpu || excluded.cpu,
    memory_bytes = s.memory_bytes || excluded.memory_bytes, disk_bytes = s.disk_bytes || excluded.disk_bytes,
    network_rx_bytes = s.network_rx_bytes || excluded.network_rx_bytes,
    network_tx_bytes = s.network_tx_bytes || excluded.network_tx_bytes, states = s.states || excluded.states,
    uptimes = s.uptimes || excluded.uptimes
  where s.minutes[cardinality(s.minutes)] < excluded.minutes[1]
)`
