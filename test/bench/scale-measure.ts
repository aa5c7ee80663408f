import { Client, escapeLiteral } from 'pg'
import { openPostgres } from '../../src/platform/postgres.ts'
import { sql } from 'drizzle-orm'
import { rowsOf, single } from '../../src/db/database.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import type { ScaleRequest } from './scale-requests.ts'
import { openBenchServices } from './services.ts'

/** What the statements of a request cost together: blocks of 8 KiB, and milliseconds of PostgreSQL while all is cached. */
export type Cost = { status: number; statements: number; blocks: number; milliseconds: number }

type Statement = { text: string; values: unknown[] }
type Explained = [{ Plan: Record<string, number>; 'Planning Time': number; 'Execution Time': number }]

/**
 * The sixth run of a statement with a name may have a plan for all values, as in the panel; one without a name is planned
 * for its values each time. The fastest of the last three counts.
 */
const rounds = 8

/** Measures each request against a seeded database; `onCost` gets them one by one. */
export async function measureRequests(
  url: string,
  requests: ScaleRequest[],
  onCost: (request: ScaleRequest, cost: Cost) => void,
): Promise<void> {
  const statements: Statement[] = []
  // The logger of Drizzle also gets the values.
  const database = openPostgres(url, 1, (text: string, ...[params]: unknown[]) => {
    statements.push({ text, values: (params as unknown[] | undefined) ?? [] })
  })
  const { db, transaction } = database
  const services = { ...(await openBenchServices(url, () => undefined)), db, transaction }
  const app = serve(
    { services: async () => services, clientAddress: () => '127.0.0.1', waitUntil: () => undefined },
    ...surfaces,
  )
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const { path, token } of requests) {
      statements.length = 0
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
      const response = await app.fetch(new Request(`http://panel.test${path}`, { headers }))
      await response.arrayBuffer()
      const costs: { blocks: number; milliseconds: number }[] = []
      const sent = [...statements]
      const prepared = await db.execute(sql`select statement from pg_prepared_statements`)
      const named = new Set(rowsOf<{ statement: string }>(prepared).map(({ statement }) => statement))
      for (const statement of sent) costs.push(await explain(client, statement, named.has(statement.text)))
      onCost(
        { path, token },
        {
          status: response.status,
          statements: costs.length,
          blocks: sum(costs.map(({ blocks }) => blocks)),
          milliseconds: sum(costs.map(({ milliseconds }) => milliseconds)),
        },
      )
    }
  } finally {
    await client.end()
    await database.close()
    await services.close()
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

/** Runs a statement as the panel does, prepared, and undoes what it wrote. */
async function explain(client: Client, { text, values }: Statement, isNamed: boolean) {
  await client.query('begin')
  if (!isNamed) await client.query('set local plan_cache_mode = force_custom_plan')
  try {
    await client.query(`prepare measured as ${text}`)
    const literals = values.map(literalOf).join(', ')
    const execute = `execute measured${literals === '' ? '' : `(${literals})`}`
    const found: { blocks: number; milliseconds: number }[] = []
    for (let round = 0; round < rounds; round += 1) {
      const { rows } = await client.query<{ 'QUERY PLAN': Explained }>(
        `explain (analyze, buffers, timing off, format json) ${execute}`,
      )
      const [explained] = single(rows)['QUERY PLAN']
      const blocks = (explained.Plan['Shared Hit Blocks'] ?? 0) + (explained.Plan['Shared Read Blocks'] ?? 0)
      found.push({ blocks, milliseconds: explained['Planning Time'] + explained['Execution Time'] })
    }
    const last = found.slice(-3).toSorted((one, other) => one.milliseconds - other.milliseconds)
    return last[0] ?? { blocks: 0, milliseconds: 0 }
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
  }
}

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (value instanceof Date) return escapeLiteral(value.toISOString())
  if (Array.isArray(value)) return `array[${value.map(literalOf).join(', ')}]`
  return escapeLiteral(typeof value === 'object' ? JSON.stringify(value) : String(value as number))
}
