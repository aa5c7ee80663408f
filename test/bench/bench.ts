import { createDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { measureFolder, printFolder } from './folders.ts'
import { closeConnections, quantile, round, type Scenario, send } from './load.ts'
import { measureLogins, printLogins } from './logins.ts'
import { measureTick, printTick } from './schedules.ts'
import { seedBench } from './seed.ts'

const rounds = Number(process.env.BENCH_ROUNDS ?? 5)

type Result = {
  scenario: Scenario
  perSecond: number
  p50: number
  p99: number
  bytes: number
  statements: number
}

async function countStatements(port: number, scenario: Scenario): Promise<number> {
  const read = async () =>
    ((await (await fetch(`http://127.0.0.1:${port}/statements`)).json()) as { statements: number }).statements
  const before = await read()
  await send(port, scenario)
  return (await read()) - before
}

/** Measures all scenarios in turn, so that a slow minute of the machine affects each alike; returns the best round of each. */
async function measure(port: number, scenarios: Scenario[]): Promise<Result[]> {
  const results = new Map<Scenario, Result>()
  for (const scenario of scenarios) await round(port, scenario)
  for (let at = 0; at < rounds; at += 1) {
    for (const scenario of scenarios) {
      const { perSecond, times, bytes } = await round(port, scenario)
      if (perSecond <= (results.get(scenario)?.perSecond ?? 0)) continue
      const statements = await countStatements(port, scenario)
      results.set(scenario, {
        scenario,
        perSecond,
        p50: quantile(times, 0.5),
        p99: quantile(times, 0.99),
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
  const read = {
    name: 'GET /api/client/servers/{id}',
    method: 'GET',
    path: `/api/client/servers/${seeded.uuid}`,
    headers: client,
  }
  const results = await measure(port, [
    { name: 'bare Hono, one indexed row', method: 'GET', path: '/bare', headers: {} },
    { name: 'GET /api/client (50)', method: 'GET', path: '/api/client?per_page=50', headers: client },
    read,
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
  const logins = await measureLogins(port, read, seeded.names, rounds)
  const folder = await measureFolder(database.url, port, {
    listing: {
      name: 'GET /api/client/servers/{id}/files/list',
      method: 'GET',
      path: `/api/client/servers/${seeded.uuid}/files/list`,
      headers: client,
    },
    read,
    server: seeded.uuid,
  })
  await server.stop()
  print(results)
  printLogins(logins)
  printFolder(folder)
  printTick(await measureTick(database.url), 1000 / (results[0]?.perSecond ?? 1))
} finally {
  closeConnections()
  await database.drop()
}
