import { measureAllocations } from './allocations.ts'
import { type Captured, captureRow, countBlocks, fewRequests } from './capture.ts'
import { requestBytes } from './http-client.ts'
import { load, prepareRequests, roundRobin, type Sample, sample, type Target } from './measure.ts'
import { readUsage, registerBaseline, type RunningPanel, startBaselines, startPanel } from './panel.ts'
import { type BackendTimes, watchBackends } from './processor-time.ts'
import { rows, type Row } from './rows.ts'
import type { Size } from './seed.ts'
import { openStatementProxy } from './statement-proxy.ts'
import { decimal, kib, percent, printHeading, printTable, type Spread, spreadOf } from './table.ts'

export type RouteOptions = {
  only: string[]
  rounds: number
  concurrency: number[]
  /** Milliseconds of each measurement. */
  milliseconds: number
}

/** What does not depend on the machine. */
export type Constants = { statements: number; blocks: number; bytes: number; allocations: number }

/** Figures of a route at one number of callers; the shares are medians over the rounds. */
export type RouteResult = {
  name: string
  concurrency: number
  perSecond: number
  p50: number
  p99: number
  node: number
  postgres: number
  refused: number
  rounds: number
  /** Requests per second, and milliseconds of Node and PostgreSQL, of the baseline B. */
  baselinePerSecond: number
  baselineNode: number
  baselinePostgres: number
  ofA: Spread
  ofB: Spread
  ofBProcessor: Spread
  /** Of the baseline by the driver of the panel. */
  ofDriverProcessor: Spread
}

export type RouteResults = {
  constants: Record<string, Constants>
  results: RouteResult[]
  bare: RouteResult[]
}

/** The panel, and the process that answers the baselines. */
type Bench = {
  panel: RunningPanel
  baselines: RunningPanel
  backends: BackendTimes | null
  options: RouteOptions
  size: Size
}
/** Baseline B, and the one by the driver of the panel. */
type Baselines = { b: Target; driver: Target }
type Measured = { row: Row; target: Target; baselines: Baselines | null }

const distinctRequests = 1000
/** Requests whose statements the baselines send: of many keys, so that their rows are no nearer to the processor. */
const baselineRequests = 500
const warmingCallers = 32
/**
 * Requests after which V8 has optimised what runs once in each, and milliseconds for rows that change the world, which
 * are too slow for as many.
 */
const warming = { requests: 15_000, milliseconds: 5000 }
/** Requests of the instrument after which V8 has seen what is different about them. */
const instrumentRequests = 100
/** No further round begins after so long. */
const maxRoundsMs = 240_000

/** Captures the statements of the rows in a panel of its own, by a proxy in front of the database. */
export async function captureRows(
  url: string,
  size: Size,
  chosen: Row[],
  requests = fewRequests,
): Promise<Map<string, Captured>> {
  const proxy = await openStatementProxy(url)
  const panel = await startPanel({ url: proxy.url, isMeasured: false })
  try {
    const captured = new Map<string, Captured>()
    for (const row of chosen) captured.set(row.name, await captureRow(row, { panel, proxy, size, requests }))
    return captured
  } finally {
    await panel.stop()
    await proxy.close()
  }
}

/** Returns the rows that `only` names, or all. */
export const chooseRows = (only: string[]): Row[] =>
  only.length === 0 ? rows : rows.filter(({ name }) => only.includes(name))

/** Measures routes against both baselines, in rounds over all of them, so that each round has the same machine. */
export async function measureRoutes(url: string, size: Size, options: RouteOptions): Promise<RouteResults> {
  const chosen = chooseRows(options.only)
  const captured = await captureRows(url, size, chosen, baselineRequests)
  const panel = await startPanel({ url, isMeasured: true })
  const baselines = await startBaselines(url)
  const backends = await watchBackends(url)
  try {
    const bench = { panel, baselines, backends, options, size }
    const measured: Measured[] = []
    for (const row of chosen) measured.push(await prepareRow(bench, row, captured.get(row.name)))
    const rounds = await measureRounds(bench, measured)
    const constants: Record<string, Constants> = {}
    for (const row of chosen) {
      const found = captured.get(row.name)
      if (!found) continue
      const { statements, bytes } = found
      // What was created cannot be created again.
      const blocks = row.isWithoutBaseline ? Number.NaN : await countBlocks(url, found)
      const allocations = await measureAllocations(row, panel, size)
      constants[row.name] = { statements, blocks, bytes, allocations }
    }
    return { constants, ...summarise(rounds) }
  } finally {
    await backends?.close()
    await baselines.stop()
    await panel.stop()
  }
}

/** Registers the baseline of a row, and prepares the requests of both. */
async function prepareRow(
  { panel, baselines: answering, size }: Bench,
  row: Row,
  captured: Captured | undefined,
): Promise<Measured> {
  const target = row.changing
    ? generated(panel.port, row, size)
    : roundRobin(
        panel.port,
        row.status,
        prepareRequests(panel.port, distinctRequests, (n) => row.request(n, size)),
      )
  if (row.isWithoutBaseline || !captured) return { row, target, baselines: null }
  const { requests, bytes } = captured
  await registerBaseline(answering, { name: row.name, requests, bytes, changing: row.changing === true })
  const baseline = (name: string) => {
    const request = { method: 'GET', path: `/baselines/${name}`, headers: {} }
    return roundRobin(answering.port, 200, [requestBytes(answering.port, request)])
  }
  return { row, target, baselines: { b: baseline(row.name), driver: baseline(`${row.name}-by-driver`) } }
}

/** Changes are made anew each time: some are refused when they come again. */
function generated(port: number, row: Row, size: Size): Target {
  let turn = 0
  return {
    port,
    status: row.status,
    next: () => {
      turn += 1
      return requestBytes(port, row.request(turn, size))
    },
  }
}

type Round = {
  name: string
  concurrency: number
  route: Sample
  a: Sample
  b: Sample | null
  driver: Sample | null
}

async function measureRounds(bench: Bench, measured: Measured[]): Promise<Round[]> {
  const { panel, baselines: baselinePanel, options } = bench
  const bare = roundRobin(baselinePanel.port, 200, [
    requestBytes(baselinePanel.port, { method: 'GET', path: '/bare', headers: {} }),
  ])
  // What V8 optimises for the requests of callers alone, it drops at the first of the instrument, in the first round.
  for (const each of [panel, baselinePanel])
    for (let n = 0; n < instrumentRequests; n += 1) await readUsage(each)
  for (const each of measured) await warm(each)
  await load(bare, warmingCallers, warming.milliseconds, warming.requests / warmingCallers)
  const startedAt = performance.now()
  const rounds: Round[] = []
  const take = (target: Target, concurrency: number) => {
    const answering = target.port === baselinePanel.port ? baselinePanel : panel
    return sample(target, concurrency, options.milliseconds, { panel: answering, backends: bench.backends })
  }
  for (let round = 0; round < options.rounds; round += 1) {
    if (round > 0 && performance.now() - startedAt > maxRoundsMs) break
    for (const concurrency of options.concurrency) {
      const a = await take(bare, concurrency)
      for (const { row, target, baselines } of measured) {
        if (concurrency > (row.maxConcurrency ?? concurrency)) continue
        // What comes second finds its rows near to the processor, so that the route does in every other round.
        const early = round % 2 === 0 ? await take(target, concurrency) : null
        const b = baselines && (await take(baselines.b, concurrency))
        const driver = baselines && (await take(baselines.driver, concurrency))
        const route = early ?? (await take(target, concurrency))
        rounds.push({ name: row.name, concurrency, route, a, b, driver })
      }
    }
  }
  return rounds
}

/** Sends requests to a route and its baselines until V8 has optimised all of them. */
async function warm({ target, baselines, row }: Measured): Promise<void> {
  const callers = Math.min(warmingCallers, row.maxConcurrency ?? warmingCallers)
  const perCaller = row.changing ? 1 : warming.requests / callers
  for (const each of [target, ...(baselines ? [baselines.b, baselines.driver] : [])])
    await load(each, callers, warming.milliseconds, perCaller)
}

/** Makes of all rounds one line for each route and number of callers. */
function summarise(rounds: Round[]): { results: RouteResult[]; bare: RouteResult[] } {
  const groups = Object.values(
    Object.groupBy(rounds, ({ name, concurrency }) => `${name} ${concurrency}`),
  ).flatMap((group) => (group ? [group] : []))
  const results = groups.flatMap((group) => {
    const [first] = group
    if (!first) return []
    return [
      {
        ...figuresOf(
          first.name,
          first.concurrency,
          group.map(({ route }) => route),
        ),
        baselinePerSecond: medianOf(group, ({ b }) => b?.perSecond),
        baselineNode: medianOf(group, ({ b }) => b?.node),
        baselinePostgres: medianOf(group, ({ b }) => b?.postgres),
        ofA: spreadOf(group.map(({ route, a }) => route.perSecond / a.perSecond)),
        ofB: spreadOf(group.map(({ route, b }) => (b ? route.perSecond / b.perSecond : Number.NaN))),
        ofBProcessor: spreadOf(group.map(({ route, b }) => shareOf(b, route))),
        ofDriverProcessor: spreadOf(group.map(({ route, driver }) => shareOf(driver, route))),
      },
    ]
  })
  const byConcurrency = Object.values(Object.groupBy(rounds, ({ concurrency }) => String(concurrency)))
  const bare = byConcurrency.flatMap((group) => {
    const [first] = group ?? []
    if (!group || !first) return []
    const none = spreadOf([])
    const samples = [...new Set(group.map(({ a }) => a))]
    return [
      {
        ...figuresOf('A', first.concurrency, samples),
        baselinePerSecond: Number.NaN,
        baselineNode: Number.NaN,
        baselinePostgres: Number.NaN,
        ofA: none,
        ofB: none,
        ofBProcessor: none,
        ofDriverProcessor: none,
      },
    ]
  })
  return { results, bare }
}

const medianOf = (group: Round[], pick: (round: Round) => number | undefined): number =>
  spreadOf(group.map((round) => pick(round) ?? Number.NaN)).median
const shareOf = (baseline: Sample | null, route: Sample) =>
  baseline ? costOf(baseline) / costOf(route) : Number.NaN
const costOf = ({ node, postgres }: Sample) => node + (Number.isNaN(postgres) ? 0 : postgres)

function figuresOf(name: string, concurrency: number, samples: Sample[]) {
  const median = (pick: (sample: Sample) => number) => spreadOf(samples.map(pick)).median
  return {
    name,
    concurrency,
    perSecond: median(({ perSecond }) => perSecond),
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    node: median(({ node }) => node),
    postgres: median(({ postgres }) => postgres),
    refused: samples.reduce((sum, { refused }) => sum + refused, 0),
    rounds: samples.length,
  }
}

/** Prints the figures of the routes, and how their throughput changes with the number of callers. */
export function printRoutes({ constants, results, bare }: RouteResults): void {
  const rounds = Math.max(...results.map((each) => each.rounds))
  printHeading(
    `routes, ${rounds} rounds: % of A (bare Hono, one prepared query) and of B (its statements by pg, a static body); processor time also of the same by our driver`,
  )
  const columns = [
    'route',
    'callers',
    'req/s',
    'p50 ms',
    'p99 ms',
    '% of A',
    '% of B',
    '% of B, processor',
    'by our driver',
    'Node ms',
    'PostgreSQL ms',
    'of B',
    'refused',
  ]
  const lines = [...bare, ...results].map((each) => [
    each.name,
    String(each.concurrency),
    decimal(each.perSecond, 0),
    decimal(each.p50, 1),
    decimal(each.p99, 1),
    percent(each.ofA),
    percent(each.ofB),
    percent(each.ofBProcessor),
    percent(each.ofDriverProcessor),
    decimal(each.node, 2),
    decimal(each.postgres, 2),
    `${decimal(each.baselineNode, 2)} + ${decimal(each.baselinePostgres, 2)}`,
    String(each.refused),
  ])
  printTable(columns, lines)
  printHeading('per request, whatever the machine')
  printTable(
    ['route', 'statements', 'blocks', 'answer KiB', 'allocated KiB'],
    Object.entries(constants).map(([name, { statements, blocks, bytes, allocations }]) => [
      name,
      String(statements),
      decimal(blocks, 0),
      kib(bytes),
      kib(allocations),
    ]),
  )
  printFlatness(results)
}

/** Prints the throughput at many callers as a share of that at 8, and what the baseline keeps of its own. */
function printFlatness(results: RouteResult[]): void {
  const names = [...new Set(results.map(({ name }) => name))]
  const share = (name: string, many: number, pick: (result: RouteResult) => number) => {
    const at = (concurrency: number) => {
      const found = results.find((each) => each.name === name && each.concurrency === concurrency)
      return found ? pick(found) : Number.NaN
    }
    return decimal(at(many) / at(8), 2)
  }
  printHeading('throughput at 32 and 256 callers, of that at 8 (target: 0.9), and that of B')
  printTable(
    ['route', '32 / 8', '256 / 8', 'B 32 / 8', 'B 256 / 8'],
    names.map((name) => [
      name,
      ...[32, 256].map((many) => share(name, many, ({ perSecond }) => perSecond)),
      ...[32, 256].map((many) => share(name, many, ({ baselinePerSecond }) => baselinePerSecond)),
    ]),
  )
}
