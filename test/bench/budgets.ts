/**
 * Compares what does not depend on the machine with test/bench/budgets.json. `npm run budgets`, and with `-- --update` it
 * writes the file. See docs/performance.md#budgets.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { budgetsKib, sizeAtStart, sizeTable } from '../../src/cli/bundles.ts'
import { createDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { measureAllocations } from './allocations.ts'
import { countBlocks } from './capture.ts'
import { bundleFunctions } from './functions.ts'
import { load, closeConnections, prepareRequests, roundRobin } from './measure.ts'
import { startPanel } from './panel.ts'
import { captureRows, chooseRows, type Constants } from './routes.ts'
import { seedBench, type Size } from './seed.ts'
import { decimal, kib, printTable } from './table.ts'

const file = new URL('budgets.json', import.meta.url)
/** A thousand keys over two thousand servers. */
const size: Size = { users: 40, keysPerUser: 25, serversPerUser: 50, nodes: 9, free: 1000 }
/** How much of an allocation is of chance, as a share. */
const allocationTolerance = 0.1
const blockTolerance = 0.05
/** Logins are a hash, and their allocations those of few requests. */
const unbudgetedAllocations = ['login', 'create']

/**
 * When V8 optimises a function, it saves allocations; when that happens depends on the machine and its load. So
 * allocations are counted without it, and with the sources, which are there without a build.
 */
const entry = ['--no-opt', '--no-maglev', '--no-sparkplug', 'functions/all/node.ts']
const warmingRequests = 300
const warmingCallers = 4

type Budgets = Record<string, Constants>

const { values } = parseArgs({ options: { update: { type: 'boolean', default: false } } })

/** Measures every row over a small world with the same rows each time. */
async function measureBudgets(): Promise<Budgets> {
  const database = await createDatabase()
  const daemon = await startProcess('test/bench/daemon.ts', { ready: /listening \d+/ })
  try {
    await seedBudgets(database.url, Number(/listening (\d+)/.exec(daemon.output())?.[1]))
    return await measureConstants(database.url)
  } finally {
    closeConnections()
    await daemon.stop()
    await database.drop()
  }
}

/** Blocks depend on what vacuum has marked as visible, and it comes when it wants to. */
const withoutAutovacuum = `do $$ declare name regclass; begin
  for name in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
    execute format('alter table %s set (autovacuum_enabled = false)', name);
  end loop;
end $$`

/** Uses of keys are noted once a minute: on a slow machine beside some requests, and not beside others. */
const withoutNotes = `update api_keys set last_used_at = now() + interval '1 day'`

async function seedBudgets(url: string, daemonPort: number): Promise<void> {
  const client = new Client(url)
  await client.connect()
  try {
    await client.query(withoutAutovacuum)
    await seedBench(url, size, daemonPort)
    await client.query(withoutNotes)
    await client.query('vacuum full api_keys')
    await client.query('vacuum (freeze, analyze)')
  } finally {
    await client.end()
  }
}

async function measureConstants(url: string): Promise<Budgets> {
  const chosen = chooseRows([])
  const captured = await captureRows(url, size, chosen)
  // Before the warming, whose count of inserted rows, and with it the height of indexes, depends on the machine.
  const blocks = new Map<string, number>()
  for (const row of chosen) {
    const found = captured.get(row.name)
    if (found && !row.isWithoutBaseline) blocks.set(row.name, await countBlocks(url, found))
  }
  const panel = await startPanel({ url, isMeasured: true, entry })
  const budgets: Budgets = {}
  try {
    for (const row of chosen) {
      const found = captured.get(row.name)
      if (!found) throw new Error(`${row.name} was not recorded.`)
      if (!row.isWithoutBaseline) {
        const requests = prepareRequests(panel.port, warmingRequests, (n) => row.request(n, size))
        await load(roundRobin(panel.port, row.status, requests), warmingCallers, 300)
      }
      budgets[row.name] = {
        statements: found.statements,
        blocks: blocks.get(row.name) ?? 0,
        bytes: found.bytes,
        allocations: unbudgetedAllocations.includes(row.name)
          ? 0
          : Math.round(await measureAllocations(row, panel, size)),
      }
    }
    return budgets
  } finally {
    await panel.stop()
  }
}

/** Returns what is larger than its budget, in words. */
function findExcesses(budgets: Budgets, measured: Budgets): string[] {
  const allowed = (name: keyof Constants, budget: number) => {
    if (name === 'allocations') return budget * (1 + allocationTolerance)
    return name === 'blocks' ? Math.ceil(budget * (1 + blockTolerance)) : budget
  }
  return Object.entries(measured).flatMap(([row, constants]) => {
    const budget = budgets[row]
    if (!budget) return [`${row} has no budget.`]
    return (Object.keys(constants) as (keyof Constants)[]).flatMap((name) =>
      constants[name] > allowed(name, budget[name])
        ? [`${row}: ${constants[name]} ${name} are more than ${budget[name]}.`]
        : [],
    )
  })
}

const measured = await measureBudgets()
printTable(
  ['route', 'statements', 'blocks', 'answer bytes', 'allocated KiB'],
  Object.entries(measured).map(([row, { statements, blocks, bytes, allocations }]) => [
    row,
    String(statements),
    decimal(blocks, 0),
    String(bytes),
    kib(allocations),
  ]),
)
if (values.update) await writeFile(file, `${JSON.stringify(measured, null, 2)}\n`)
const excesses = findExcesses(JSON.parse(await readFile(file, 'utf8')) as Budgets, measured)
for (const excess of excesses) console.error(excess)

// Bundling fails by itself when a function is over its budget.
const sizes = (await bundleFunctions()).map(({ cloud, name, files }) => ({
  ...sizeAtStart(name, files),
  name: `${name} ${cloud}`,
  budget: budgetsKib[name],
}))
console.log(`\n${sizeTable(sizes)}\n`)
console.log(
  excesses.length === 0 ? 'Everything is within its budget.' : `${excesses.length} budgets are exceeded.`,
)
process.exitCode = excesses.length === 0 ? 0 : 1
