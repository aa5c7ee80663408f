import { serve as listen } from '@hono/node-server'
import { eq, sql } from 'drizzle-orm'
import { Hono } from 'hono'
import { prepared } from '../../src/db/database.ts'
import { locations } from '../../src/db/schema.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { openBenchParts } from './parts.ts'

const url = process.argv[2]
if (!url) throw new Error('Usage: server.ts <database url>')

let statements = 0
const parts = await openBenchParts(url, () => {
  statements += 1
})
const app = serve(
  {
    parts: async () => parts,
    address: (c) => c.req.header('x-bench-address') ?? '127.0.0.1',
    settle: () => undefined,
  },
  ...surfaces,
)

/** What everything is compared with: a bare route with one indexed, prepared query on the same driver. */
const bare = new Hono()
  .get('/bare', async (c) => {
    const statement = prepared(parts.db, 'bench_bare', (db) =>
      db
        .select()
        .from(locations)
        .where(eq(locations.id, sql.placeholder('id')))
        .prepare('bench_bare'),
    )
    return c.json(await statement.execute({ id: 1 }))
  })
  .get('/statements', (c) => c.json({ statements }))

process.on('SIGINT', () => process.exit(0))
listen(
  {
    fetch: (request) =>
      /^\/(?:api|auth)\//.test(new URL(request.url).pathname) ? app.fetch(request) : bare.fetch(request),
    hostname: '127.0.0.1',
    port: 0,
  },
  ({ port }) => console.log(`listening ${port}`),
)
