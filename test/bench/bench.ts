/**
 * Measures the panel. `npm run bench -- --only view,list --rounds 5 --concurrency 8,32 --json figures.json`; see
 * docs/performance.md.
 */
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { createDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { measureFolder, printFolder } from './folders.ts'
import { measureFunctions, printFunctions } from './functions.ts'
import { measureLogins, printLogins } from './logins.ts'
import { measurePages, printPages } from './pages.ts'
import { closeConnections } from './measure.ts'
import { measureMovingIn, printMovingIn } from './moving-in.ts'
import { measureOldLog, printOldLog } from './old-log.ts'
import { measureOverload, printOverload } from './overload.ts'
import { rows } from './rows.ts'
import { measureProcesses, printProcesses } from './processes.ts'
import { measureRoutes, printRoutes } from './routes.ts'
import { measureTick, printTick } from './schedules.ts'
import { benchSize, seedBench } from './seed.ts'
import { measureStart, printStart } from './start.ts'

if (process.argv.includes('--scale')) await import('./scale.ts').then(() => process.exit())

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '1,8,32,256' },
    milliseconds: { type: 'string', default: '400' },
    gib: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
})

type Context = { url: string; daemonPort: number }
/** A part of the benchmark: its name for `--only`, and what it measures and prints. */
type Section = { name: string; measure: (context: Context) => Promise<unknown> }

const only = values.only.split(',').filter(Boolean)
const rowNames = rows.map(({ name }) => name)
const routeOptions = {
  only: only.filter((name) => rowNames.includes(name)),
  rounds: Number(values.rounds),
  concurrency: values.concurrency.split(',').map(Number),
  milliseconds: Number(values.milliseconds),
}

/** Measures something and prints it. */
const section = <Result>(
  name: string,
  measure: (context: Context) => Promise<Result>,
  print: (result: Result) => void,
): Section => ({
  name,
  measure: async (context) => {
    const startedAt = performance.now()
    const result = await measure(context)
    closeConnections()
    print(result)
    console.log(`(${((performance.now() - startedAt) / 1000).toFixed(0)} s)`)
    return result
  },
})

const sections = [
  section('routes', ({ url }) => measureRoutes(url, benchSize, routeOptions), printRoutes),
  section('overload', ({ url }) => measureOverload(url, benchSize), printOverload),
  section('logins', ({ url }) => measureLogins(url, benchSize), printLogins),
  section('pages', ({ url }) => measurePages(url, benchSize), printPages),
  section('processes', ({ url }) => measureProcesses(url, benchSize, routeOptions.rounds), printProcesses),
  section('start', ({ url }) => measureStart(url, benchSize), printStart),
  section('functions', measureFunctions, printFunctions),
  section('folder', ({ url }) => measureFolder(url, benchSize), printFolder),
  section('moving-in', () => measureMovingIn(), printMovingIn),
  section('tick', ({ url, daemonPort }) => measureTick(url, daemonPort), printTick),
]

/** Takes tens of minutes and of gigabytes: it runs when it is named. */
const oldLog = section('old-log', () => measureOldLog(Number(values.gib)), printOldLog)

const isChosen = ({ name }: Section) =>
  only.length === 0 || only.includes(name) || (name === 'routes' && routeOptions.only.length > 0)

/** Returns what the figures are of: the machine, the versions and its load. */
function describeRun() {
  const [cpu] = cpus()
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  return {
    commit,
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpu?.model.trim()}`,
    node: process.version,
  }
}

/** Says so when other programs have used the processors: then only shares and processor times can be compared. */
function printLoad(when: string): number {
  const [load = 0] = loadavg()
  const warning = load > 1 ? ': the machine is loaded; compare shares and processor times only' : ''
  console.log(`load average at the ${when}: ${load.toFixed(1)} on ${cpus().length} processors${warning}`)
  return load
}

const run = describeRun()
console.log(`${run.commit}, ${run.date}, ${run.machine}, Node ${run.node}`)
const loadAtStart = printLoad('start')
const database = await createDatabase()
const daemon = await startProcess('test/bench/daemon.ts', { ready: /listening \d+/ })
const results: Record<string, unknown> = {}
try {
  const daemonPort = Number(/listening (\d+)/.exec(daemon.output())?.[1])
  await seedBench(database.url, benchSize, daemonPort)
  for (const each of [...sections.filter(isChosen), ...(only.includes(oldLog.name) ? [oldLog] : [])])
    results[each.name] = await each.measure({ url: database.url, daemonPort })
} finally {
  closeConnections()
  await daemon.stop()
  await database.drop()
}
console.log()
const loadAtEnd = printLoad('end')
if (values.json !== undefined) {
  const written = { run: { ...run, loadAtStart, loadAtEnd }, ...results }
  await writeFile(values.json, `${JSON.stringify(written, null, 2)}\n`)
}
