import { Agent, request } from 'node:http'
import { createDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { seedBench } from './seed.ts'
import { measureTick, printTick } from './schedules.ts'

const concurrency = 16
const roundMilliseconds = 1000
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)

type Scenario = { name: string; method: string; path: string; headers: Record<string, string>; body?: string }
type Result = {
  scenario: Scenario
  perSecond: number
  p50: number
  p99: number
  bytes: number
  statements: number
}

const agent = new Agent({ keepAlive: true, maxSockets: concurrency })

/** One request; gives its status and size once the last byte is here. */
function send(port: number, scenario: Scenario): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const { method, path, headers, body } = scenario
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, bytes }))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Keeps `concurrency` requests in the air for one round. */
async function round(
  port: number,
  scenario: Scenario,
): Promise<{ perSecond: number; times: number[]; bytes: number }> {
  const times: number[] = []
  const start = performance.now()
  let bytes = 0
  const worker = async () => {
    while (performance.now() - start < roundMilliseconds) {
      const before = performance.now()
      const answer = await send(port, scenario)
      if (answer.status !== 200) throw new Error(`${scenario.name} answered ${answer.status}.`)
      times.push(performance.now() - before)
      bytes = answer.bytes
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { perSecond: (times.length * 1000) / (performance.now() - start), times, bytes }
}

async function countStatements(port: number, scenario: Scenario): Promise<number> {
  const read = async () =>
    ((await (await fetch(`http://127.0.0.1:${port}/statements`)).json()) as { statements: number }).statements
  const before = await read()
  await send(port, scenario)
  return (await read()) - before
}

/** Rounds of all scenarios in turn, so that a slow minute of the machine hits each alike; the best of each counts. */
async function measure(port: number, scenarios: Scenario[]): Promise<Result[]> {
  const results = new Map<Scenario, Result>()
  for (const scenario of scenarios) await round(port, scenario)
  for (let at = 0; at < rounds; at += 1) {
    for (const scenario of scenarios) {
      const { perSecond, times, bytes } = await round(port, scenario)
      if (perSecond <= (results.get(scenario)?.perSecond ?? 0)) continue
      const sorted = times.toSorted((a, b) => a - b)
      const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
      const statements = await countStatements(port, scenario)
      results.set(scenario, {
        scenario,
        perSecond,
        p50: quantile(0.5),
        p99: quantile(0.99),
        bytes,
        statements,
      })
    }
  }
  return scenarios.flatMap((scenario) => results.get(scenario) ?? [])
}

function print(results: Result[]): void {
  const bare = results[0]?.perSecond ?? 1
  const columns = ['route', 'req/s', 'of bare', 'p50 ms', 'p99 ms', 'bytes', 'statements']
  const rows = results.map(({ scenario, perSecond, p50, p99, bytes, statements }) => [
    scenario.name,
    perSecond.toFixed(0),
    (perSecond / bare).toFixed(3),
    p50.toFixed(1),
    p99.toFixed(1),
    String(bytes),
    String(statements),
  ])
  const widths = columns.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  for (const row of [columns, ...rows]) {
    console.log(
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
  }
}

const database = await createDatabase()
try {
  const seeded = await seedBench(database.url)
  const server = await startProcess('test/bench/server.ts', { args: [database.url], ready: /listening \d+/ })
  const port = Number(/listening (\d+)/.exec(server.output())?.[1])
  const application = { authorization: `Bearer ${seeded.applicationToken}`, accept: 'application/json' }
  const client = { authorization: `Bearer ${seeded.clientToken}`, accept: 'application/json' }
  const node = { authorization: `Bearer ${seeded.nodeToken}`, accept: 'application/json' }
  const batch = {
    name: 'POST /api/remote/activity (100)',
    method: 'POST',
    path: '/api/remote/activity',
    headers: { ...node, 'content-type': 'application/json' },
  }
  const results = await measure(port, [
    { name: 'bare Hono, one indexed row', method: 'GET', path: '/bare', headers: {} },
    { name: 'GET /api/client (50)', method: 'GET', path: '/api/client?per_page=50', headers: client },
    {
      name: 'GET /api/client/servers/{id}',
      method: 'GET',
      path: `/api/client/servers/${seeded.uuid}`,
      headers: client,
    },
    {
      name: 'GET /api/application/servers (50)',
      method: 'GET',
      path: '/api/application/servers?per_page=50&include=allocations,user,egg,node,location',
      headers: application,
    },
    {
      name: 'GET /api/remote/servers (50)',
      method: 'GET',
      path: '/api/remote/servers?page=0&per_page=50',
      headers: node,
    },
    // Each reading gives new entries: a batch that comes again is not stored again.
    {
      ...batch,
      get body() {
        return JSON.stringify({ data: seeded.entries(100) })
      },
    },
  ])
  await server.stop()
  print(results)
  printTick(await measureTick(database.url), 1000 / (results[0]?.perSecond ?? 1))
} finally {
  agent.destroy()
  await database.drop()
}
