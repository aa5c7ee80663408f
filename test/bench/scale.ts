import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { createDatabase, testDatabaseUrl } from '../support/database.ts'
import { measureJobs, printJobs } from './scale-jobs.ts'
import { type Cost, measureRequests } from './scale-measure.ts'
import { scaleRequests } from './scale-requests.ts'
import { type ScaleSeed, seedScale, seedVersion } from './scale-seed.ts'

/** The larger world has so many times the rows of the smaller one. */
const factor = 100
/** Bounds of every list: how often its milliseconds may multiply, and how many there may be. */
const maxGrowth = 4.5
const maxMilliseconds = 10

const { values: options } = parseArgs({
  options: {
    scale: { type: 'boolean' },
    servers: { type: 'string', default: '1000000' },
    keep: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
})

type Seeded = { url: string; seed: ScaleSeed; drop: () => Promise<void> }

/** Seeds a database, or finds one that an earlier run has kept. */
async function openScale(servers: number): Promise<Seeded> {
  const client = postgres(testDatabaseUrl, { max: 1 })
  try {
    const kept = await client<{ name: string; comment: string }[]>`
      select datname as name, shobj_description(oid, 'pg_database') as comment from pg_database
      where shobj_description(oid, 'pg_database') like '{"servers":%'`
    for (const { name, comment } of kept) {
      const seed = JSON.parse(comment) as ScaleSeed
      if (seed.servers !== servers || seed.version !== seedVersion()) continue
      const url = new URL(testDatabaseUrl)
      url.pathname = `/${name}`
      return { url: url.href, seed, drop: async () => dropDatabase(name) }
    }
    const start = performance.now()
    const { url, drop } = await createDatabase()
    const seed = await seedScale(url, servers).catch(async (error: unknown) => {
      await drop()
      throw error
    })
    console.log(`${count(servers)} servers seeded in ${((performance.now() - start) / 1000).toFixed(0)} s`)
    const name = new URL(url).pathname.slice(1)
    await client.unsafe(`comment on database ${name} is '${JSON.stringify(seed)}'`)
    return { url, seed, drop }
  } finally {
    await client.end()
  }
}

async function dropDatabase(name: string): Promise<void> {
  const client = postgres(testDatabaseUrl, { max: 1, onnotice: () => undefined })
  await client.unsafe(`drop database if exists ${name} with (force)`)
  await client.end()
}

const count = (number: number) => number.toLocaleString('en')

async function measureAll({ url, seed }: Seeded): Promise<{ path: string; cost: Cost }[]> {
  const costs: { path: string; cost: Cost }[] = []
  const requests = scaleRequests(seed).filter(({ path }) => path.includes(options.only))
  await measureRequests(url, requests, ({ path }, cost) => void costs.push({ path, cost }))
  return costs
}

function print(small: { path: string; cost: Cost }[], large: { path: string; cost: Cost }[]): void {
  console.log('statements  blocks small → large  ms small → large  growth')
  for (const [at, { path, cost }] of large.entries()) {
    const before = small[at]?.cost ?? cost
    const growth = cost.milliseconds / before.milliseconds
    const isWithin = cost.milliseconds <= maxMilliseconds && growth <= maxGrowth
    const isFailed = cost.status !== 200 || before.status !== 200
    const cells = [
      String(cost.statements).padStart(2),
      `${before.blocks} → ${cost.blocks}`.padStart(18),
      `${before.milliseconds.toFixed(2)} → ${cost.milliseconds.toFixed(2)}`.padStart(18),
      `×${growth.toFixed(1)}`.padStart(7),
      isFailed ? `${before.status} ${cost.status}` : isWithin ? '  ' : ' !',
      decodeURIComponent(path),
    ]
    console.log(cells.join('  '))
  }
}

const servers = Number(options.servers)
const small = await openScale(Math.round(servers / factor))
const large = await openScale(servers)
try {
  console.log(`every list with ${count(small.seed.servers)} and ${count(large.seed.servers)} servers`)
  print(await measureAll(small), await measureAll(large))
  if (options.only === '') printJobs(await measureJobs(large.url))
} finally {
  if (!options.keep) for (const { drop } of [small, large]) await drop()
}
