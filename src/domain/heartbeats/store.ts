import { sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { nodeHeartbeats, nodes, nodeSamples } from '../../db/schema.ts'
import type { HeartbeatCause } from '../../db/tables/node-heartbeats.ts'
import { processStates } from '../../db/tables/server-states.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvents } from '../activity/record.ts'
import type { ReportedServer } from './ask.ts'
import type { NodeHeartbeat } from './check-nodes.ts'

const running = processStates.indexOf('running')

/** A change of a node from up to down or back. */
type StateChange = { id: number; isUp: boolean; cause: HeartbeatCause | null }

/**
 * Stores the answers of nodes, and a sample of each that is up when `hasHistory`, in one statement. An older answer
 * than the stored one changes nothing. Records `admin:node.up` and `admin:node.down`.
 */
export async function storeHeartbeats(
  panel: Panel,
  beats: NodeHeartbeat[],
  hasHistory: boolean,
): Promise<void> {
  const names = new Map(beats.map(({ node }) => [node.id, node.name]))
  await inTransaction(panel, async (tx) => {
    const changes = await upsertHeartbeats(tx, beats, hasHistory)
    await recordAdminEvents(
      tx,
      changes.map(({ id, isUp, cause }) => ({
        event: isUp ? 'admin:node.up' : 'admin:node.down',
        subject: { type: 'node', id },
        properties: { name: names.get(id), ...(isUp ? {} : { cause }) },
      })),
    )
  })
}

/** Returns the changes; a node that never answered is not reported as down. */
async function upsertHeartbeats(tx: Tx, beats: NodeHeartbeat[], hasHistory: boolean): Promise<StateChange[]> {
  const now = tx.now()
  const at = sql`${now.toISOString()}::timestamptz`
  const result = await tx.db.execute(sql`
    with beats as materialized (
      select b.* from json_to_recordset(${JSON.stringify(beats.map(toRow))}::json) as b (
        id int, is_up boolean, cause text, status int, version text, clock_offset int, latency_ms int, servers int,
        running int, cpu float8, memory bigint, disk bigint, rx bigint, tx bigint)
      inner join ${nodes} on ${nodes.id} = b.id
    ), before as materialized (
      select h.id, h.is_up, h.last_up_at from ${nodeHeartbeats} h inner join beats on beats.id = h.id
    ), stored as (
      insert into ${nodeHeartbeats} as h (id, is_up, since, checked_at, last_up_at, cause, status, version, clock_offset,
        latency_ms, cpu, memory_bytes, disk_bytes, servers, running_servers)
      select id, is_up, ${at}, ${at}, case when is_up then ${at} end, cause, status, version, clock_offset, latency_ms,
        cpu, memory, disk, servers, running from beats
      on conflict (id) do update set is_up = excluded.is_up,
        since = case when h.is_up = excluded.is_up then h.since else excluded.since end,
        checked_at = excluded.checked_at, last_up_at = coalesce(excluded.last_up_at, h.last_up_at),
        cause = excluded.cause, status = excluded.status, version = coalesce(excluded.version, h.version),
        clock_offset = excluded.clock_offset, latency_ms = excluded.latency_ms, cpu = excluded.cpu,
        memory_bytes = excluded.memory_bytes, disk_bytes = excluded.disk_bytes, servers = excluded.servers,
        running_servers = excluded.running_servers
      where h.checked_at < excluded.checked_at
      returning h.id, h.is_up, h.cause
    )${hasHistory ? sampled(now) : sql.empty()}
    select stored.id, stored.is_up as "isUp", stored.cause from stored left join before on before.id = stored.id
    where (stored.is_up and before.is_up is not true) or (not stored.is_up and before.is_up)`)
  return rowsOf<StateChange>(result)
}

const sampled = (now: Date) => sql`, sampled as (
  insert into ${nodeSamples} as s (node_id, hour, minutes, cpu, memory_bytes, disk_bytes, network_rx_bytes, network_tx_bytes,
    running_servers)
  select id, ${hourOf(now)}::timestamptz, array[${now.getUTCMinutes()}::smallint], array[cpu::real], array[memory], array[disk],
    array[rx], array[tx], array[running] from beats where is_up and servers is not null
  on conflict (node_id, hour) do update set minutes = s.minutes || excluded.minutes, cpu = s.cpu || excluded.cpu,
    memory_bytes = s.memory_bytes || excluded.memory_bytes, disk_bytes = s.disk_bytes || excluded.disk_bytes,
    network_rx_bytes = s.network_rx_bytes || excluded.network_rx_bytes,
    network_tx_bytes = s.network_tx_bytes || excluded.network_tx_bytes,
    running_servers = s.running_servers || excluded.running_servers
  where s.minutes[cardinality(s.minutes)] < excluded.minutes[1]
)`

/** Returns the full hour before an instant, as the key of its samples. */
export const hourOf = (now: Date): string =>
  new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000).toISOString()

function toRow({ node: { id }, beat }: NodeHeartbeat) {
  if (!beat.isUp) return { id, is_up: false, cause: beat.cause, status: beat.status }
  const { version, clockOffset, latencyMs, servers } = beat
  return {
    id,
    is_up: true,
    version,
    clock_offset: clockOffset,
    latency_ms: latencyMs,
    ...(servers && totalOf(servers)),
  }
}

function totalOf(servers: ReportedServer[]) {
  const sum = (valueOf: (server: ReportedServer) => number) =>
    Math.min(
      Number.MAX_SAFE_INTEGER,
      servers.reduce((total, server) => total + valueOf(server), 0),
    )
  return {
    servers: servers.length,
    running: servers.filter(({ state }) => state === running).length,
    cpu: sum(({ cpuAbsolute }) => cpuAbsolute),
    memory: sum(({ memoryBytes }) => memoryBytes),
    disk: sum(({ diskBytes }) => diskBytes),
    rx: sum(({ networkRxBytes }) => networkRxBytes),
    tx: sum(({ networkTxBytes }) => networkTxBytes),
  }
}
