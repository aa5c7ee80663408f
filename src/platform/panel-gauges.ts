import { Gauge, Registry } from 'prom-client'
import { countServersByState, type Gauges, type NodeGauges, readGauges } from '../domain/operations/gauges.ts'
import { checkHealth, type Health } from '../domain/operations/health.ts'
import type { Panel } from '../panel.ts'
import { version } from '../version.ts'
import { withTimeout } from '../with-timeout.ts'

/** Milliseconds for which what the database says is reused, and for which counts of servers are. */
const maxAgeMs = { gauges: 15_000, servers: 60_000 }
/** Milliseconds for the database; a scrape waits ten seconds. */
const timeoutMs = 3000

/**
 * Returns what writes the gauges of the panel, which are the same in all of its processes. What the database did not
 * say within three seconds is left out: an old number would look like a new one.
 */
export function panelGauges(panel: Panel): () => Promise<string> {
  const read = remembered(panel, maxAgeMs.gauges, () => readGauges(panel))
  const count = remembered(panel, maxAgeMs.servers, () => countServersByState(panel))
  return async () => {
    const [health, found, servers] = await Promise.all([checkHealth(panel), read(), count()])
    const registry = new Registry()
    const add = gaugesOf(registry)
    add('roost_build_info', 'Version of the panel and of Node; always 1.', [
      [{ version, node: process.versions.node }, 1],
    ])
    addHealth(add, health)
    if (found) addFound(add, found, panel.now())
    if (servers) add('roost_servers', 'Servers by status; ready is without one.', byState(servers))
    return registry.metrics()
  }
}

type Value = [labels: Record<string, string>, value: number]
type Add = (name: string, help: string, values: Value[]) => void

/** Adds a gauge with its values, unless it has none. */
const gaugesOf =
  (registry: Registry): Add =>
  (name, help, values) => {
    const [first] = values
    if (!first) return
    const gauge = new Gauge({ name, help, labelNames: Object.keys(first[0]), registers: [registry] })
    for (const [labels, value] of values) gauge.set(labels, value)
  }

const byState = (counts: Record<string, number>): Value[] =>
  Object.entries(counts).map(([state, count]) => [{ state }, count])
const single = (value: number | null): Value[] => (value === null ? [] : [[{}, value]])

function addHealth(add: Add, { parts, tickAge, pendingMigrations }: Health): void {
  const { database, cache, queue, objects } = parts
  const services = Object.entries({ database, cache, queue, objects })
  add(
    'roost_service_up',
    'Whether a service answers: database, cache, queue or objects.',
    services.map(([service, state]) => [{ service }, state === 'ok' ? 1 : 0]),
  )
  add('roost_tick_age_seconds', 'Seconds since the last complete minute tick began.', single(tickAge))
  add('roost_migrations_pending', 'Migrations that the database lacks.', single(pendingMigrations))
}

function addFound(add: Add, { nodes, node_states: states, jobs }: Gauges, now: Date): void {
  add('roost_nodes', 'Nodes by state: up, down, unknown or maintenance.', byState(states))
  const each = (value: (node: NodeGauges) => number | null): Value[] =>
    nodes.flatMap((node): Value[] => {
      const found = value(node)
      return found === null ? [] : [[{ node: node.uuid, name: node.name }, found]]
    })
  add(
    'roost_node_up',
    'Whether a node answered when it was last asked.',
    each(({ up }) => (up ? 1 : 0)),
  )
  add(
    'roost_node_servers',
    'Servers that the daemon of a node lists.',
    each(({ servers }) => servers),
  )
  add(
    'roost_node_servers_running',
    'Servers of a node that run.',
    each(({ running }) => running),
  )
  add(
    'roost_node_clock_offset_seconds',
    'Seconds by which the clock of a node is ahead.',
    each(({ clock_offset: offset }) => offset),
  )
  add(
    'roost_node_certificate_end_timestamp_seconds',
    'When the certificate of a node ends.',
    each(({ certificate_ends: ends }) => ends),
  )
  add('roost_jobs', 'Jobs by state: waiting or dead.', byState({ waiting: jobs.waiting, dead: jobs.dead }))
  const late = jobs.oldest_due === null ? 0 : Math.max(0, now.getTime() / 1000 - jobs.oldest_due)
  add('roost_jobs_late_seconds', 'Seconds for which the longest due job has waited.', single(late))
}

/** Returns what reads anew when the last answer is too old; null when the answer takes too long or fails. */
function remembered<T>({ now }: Panel, ageMs: number, read: () => Promise<T>): () => Promise<T | null> {
  let last: { at: number; value: Promise<T | null> } | null = null
  return () => {
    const at = now().getTime()
    if (last && at - last.at < ageMs) return last.value
    const answer = withTimeout(read(), timeoutMs, null).catch(() => null)
    const entry = { at, value: answer }
    last = entry
    // What failed is asked again with the next scrape.
    void answer.then((value) => {
      if (value === null && last === entry) last = null
    })
    return answer
  }
}
