import { serve as listen } from '@hono/node-server'
import { eq, sql } from 'drizzle-orm'
import { prepared } from '../../src/db/database.ts'
import { locations } from '../../src/db/schema.ts'
import { importKeyRing } from '../../src/domain/secrets.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { openPostgres } from '../../src/platform/postgres.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import { Hono } from 'hono'

const url = process.argv[2]
if (!url) throw new Error('Usage: server.ts <database url>')

let statements = 0
const database = openPostgres(url, 8, () => {
  statements += 1
})
const refused = async (): Promise<never> => {
  throw new Error('The benchmark has no such part.')
}
const noHosts = (): never => {
  throw new Error('The benchmark has no database hosts.')
}
const app = serve(
  {
    parts: async () => ({
      config: {
        url: 'http://panel.test',
        name: 'Roost',
        regionalUrls: {},
        clientRateLimit: 1_000_000_000,
        applicationRateLimit: 1_000_000_000,
        timezone: 'UTC',
      },
      keys: await keys,
      db: database.db,
      transaction: database.transaction,
      cache: localCache(),
      flights: new Map(),
      queue: { send: async () => undefined, isSigned: async () => false, ping: async () => undefined },
      objects: { put: refused, signedUrl: refused, remove: refused, ping: async () => undefined },
      mail: { send: refused },
      mysqlHost: noHosts,
      now: () => new Date(),
      close: database.close,
    }),
    address: () => '127.0.0.1',
    settle: () => undefined,
  },
  ...surfaces,
)
const keys = importKeyRing(`bench:${Buffer.alloc(32, 7).toString('base64')}`)

/** What everything is compared with: a bare route with one indexed, prepared query on the same driver. */
const bare = new Hono()
  .get('/bare', async (c) => {
    const statement = prepared(database.db, 'bench_bare', (db) =>
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
      new URL(request.url).pathname.startsWith('/api/') ? app.fetch(request) : bare.fetch(request),
    hostname: '127.0.0.1',
    port: 0,
  },
  ({ port }) => console.log(`listening ${port}`),
)
