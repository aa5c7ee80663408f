import { parseArgs } from 'node:util'
import { type Command, type Report, requireArguments } from './command.ts'
import { backupTest } from './commands/backup-test.ts'
import { databaseHostCreate } from './commands/database-host-create.ts'
import { databaseHostTest } from './commands/database-host-test.ts'
import { doctor } from './commands/doctor.ts'
import { eggImport } from './commands/egg-import.ts'
import { jobDiscard, jobList, jobRetry } from './commands/jobs.ts'
import { keyCreate } from './commands/key-create.ts'
import { nodeConfigure } from './commands/node-configure.ts'
import { queueSchedule } from './commands/queue-schedule.ts'
import { setup } from './commands/setup.ts'
import { secretsReseal } from './commands/secrets-reseal.ts'
import { userCreate } from './commands/user-create.ts'
import { faultOf, UsageError } from './faults.ts'
import { printFault, printReport } from './output.ts'

const commands = new Map<string, Command>([
  ['setup', setup],
  ['user:create', userCreate],
  ['key:create', keyCreate],
  ['node:configure', nodeConfigure],
  ['database-host:create', databaseHostCreate],
  ['database-host:test', databaseHostTest],
  ['backup:test', backupTest],
  ['egg:import', eggImport],
  ['job:list', jobList],
  ['job:retry', jobRetry],
  ['job:discard', jobDiscard],
  ['queue:schedule', queueSchedule],
  ['secrets:reseal', secretsReseal],
  ['doctor', doctor],
])

const everywhere = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

await main(process.argv.slice(2))

async function main(words: string[]): Promise<void> {
  const isJson = words.includes('--json')
  const [name, ...rest] = words.filter((word, at) => at > 0 || word !== '--json')
  const command = commands.get(name ?? '')
  try {
    const report = await reportOf(name, command, rest)
    printReport(report, isJson)
    process.exitCode = report.exitCode ?? 0
  } catch (error) {
    printFault(faultOf(error), isJson)
    if (error instanceof UsageError) console.error(`\n${command ? helpOf(command) : overview()}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

async function reportOf(
  name: string | undefined,
  command: Command | undefined,
  words: string[],
): Promise<Report> {
  const isHelp = [name, ...words].some((word) => word === '--help' || word === '-h')
  if (isHelp) {
    const help = command ? helpOf(command) : overview()
    return { text: help, json: { help } }
  }
  if (!command) throw new UsageError(name === undefined ? 'A verb is missing.' : `There is no verb ${name}.`)
  const given = parse(command, words)
  requireArguments(command, given)
  return command.run(process.env, given)
}

function parse(command: Command, args: string[]) {
  try {
    const options = { ...command.options, ...everywhere }
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    return { values, words: positionals }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function helpOf({ synopsis, summary, help }: Command): string {
  return `Usage: npm run panel -- ${synopsis} [--json]\n\n${summary}\n\n${help}`
}

function overview(): string {
  const width = Math.max(...[...commands.keys()].map((name) => name.length))
  const lines = [...commands].map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return `Usage: npm run panel -- VERB [options]

${lines.join('\n')}

  --help  says more about a verb
  --json  prints one JSON document, also for faults ({"error": …, "issues": […]}); use npm run -s

With the embedded database the verb is done by the panel that runs on DATA_DIR, if there is one.
Exit codes: 0 done, 1 refused or failed, 2 not understood.`
}
