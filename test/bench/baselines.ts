/**
 * Answers the baselines in a process of its own. Within that of the panel there would be two copies of the HTTP server,
 * of which one does not know the answers of the other, and sends them the slow way.
 */
import { setFlagsFromString } from 'node:v8'
import { serve as listen } from '@hono/node-server'
import { Hono } from 'hono'
import pg from 'pg'
import { openStatementPool } from '../../src/platform/statement-pool.ts'
import type { Baseline } from './panel.ts'
import type { Statement } from './statement-proxy.ts'

// As the panel does (functions/all/main.js).
setFlagsFromString('--no-allocation-site-pretenuring')

const size = Number(process.env.BENCH_POOL_SIZE ?? 10)
const connectionString = process.env.DATABASE_URL ?? ''
const pool = new pg.Pool({ connectionString, max: size, idleTimeoutMillis: 300_000 })
pool.on('error', () => undefined)
/** The driver of the panel. */
const panelPool = openStatementPool({ connectionString }, { size, timeoutMs: 10_000, idleTimeoutMs: 300_000 })
const app = new Hono()
const baselines = new Map<string, () => Promise<Buffer>>()

/** Baseline A: one prepared query by a key. */
app.get('/bare', async (c) => {
  const { rows } = await pool.query({
    name: 'bare',
    text: 'select * from locations where id = $1',
    values: [1],
  })
  return c.json(rows)
})

/** Parses JSON and leaves everything else as text, as a route needs it, whatever the panel has set for its own driver. */
const asDelivered = {
  getTypeParser: (type: number) =>
    type === pg.types.builtins.JSON || type === pg.types.builtins.JSONB
      ? (value: string): unknown => JSON.parse(value)
      : (value: string) => value,
} as never
const names = new Map<string, string>()
let serial = 0

/** Replaces digests, so that a batch that is sent again is stored again. */
const withNewDigests = (value: string | null) =>
  value?.replaceAll(/(?<="digest":")[0-9a-f]{64}/g, () => {
    serial += 1
    return serial.toString(16).padStart(64, '0')
  }) ?? null

type Query = (statement: Statement) => Promise<unknown>

/** Sends a statement as baseline A does: by `pg`, prepared, with its rows as objects. */
const queryByPg: Query = ({ text, values }) => {
  const name = names.get(text) ?? `baseline_${names.size}`
  names.set(text, name)
  return pool.query({ name, text, values, types: asDelivered })
}
const queryByPanelPool: Query = ({ text, values }) =>
  panelPool.query({ text, rowMode: 'array', types: asDelivered }, values)

/**
 * Baselines of a route: its statements by `pg` (B) and by the driver of the panel, and a static body as long as its
 * answer. What the route makes of the rows is its own.
 */
app.post('/baselines', async (c) => {
  const { name, requests, bytes, changing } = (await c.req.json()) as Baseline
  const body = Buffer.from(`{"data":"${'x'.repeat(Math.max(0, bytes - 11))}"}`)
  let turn = 0
  const answerBy = (query: Query) => async () => {
    const statements = requests[turn % requests.length] ?? []
    turn += 1
    for (const { text, values } of statements)
      await query({ text, values: changing ? values.map(withNewDigests) : values })
    return body
  }
  baselines.set(name, answerBy(queryByPg))
  baselines.set(`${name}-by-driver`, answerBy(queryByPanelPool))
  return c.json({})
})
app.get('/baselines/:name', async (c) => {
  const answer = await baselines.get(c.req.param('name'))?.()
  return answer ? c.body(answer as never, 200, { 'content-type': 'application/json' }) : c.notFound()
})

listen({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) })
