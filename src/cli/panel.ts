import './small-heap.ts'
import { parseArgs } from 'node:util'
import { commandOf } from '../platform/command-names.ts'
import { version } from '../version.ts'
import { type Command, type Report, requireArguments } from './command.ts'
import { backupCreate } from './commands/backup-create.ts'
import { backupRestore } from './commands/backup-restore.ts'
import { backupTest } from './commands/backup-test.ts'
import { databaseHostCreate } from './commands/database-host-create.ts'
import { databaseHostTest } from './commands/database-host-test.ts'
import { databaseMove } from './commands/database-move.ts'
import { doctor } from './commands/doctor.ts'
import { eggImport } from './commands/egg-import.ts'
import { jobDiscard, jobList, jobRetry } from './commands/jobs.ts'
import { keyCreate } from './commands/key-create.ts'
import { mailTest } from './commands/mail-test.ts'
import { importPelican, importPterodactyl, importVerify } from './commands/move-in.ts'
import { nodeConfigure } from './commands/node-configure.ts'
import { nodeResetSecret } from './commands/node-reset-secret.ts'
import { queueSchedule } from './commands/queue-schedule.ts'
import { secretsRotate } from './commands/secrets-rotate.ts'
import { serviceInstall } from './commands/service-install.ts'
import { setupCode } from './commands/setup-code.ts'
import { setup } from './commands/setup.ts'
import { upgradeCheck } from './commands/upgrade-check.ts'
import { userCreate } from './commands/user-create.ts'
import { userResetPassword, userResetTwoFactor } from './commands/user-resets.ts'
import { userVerifyEmail } from './commands/user-verify-email.ts'
import { createOption } from './database.ts'
import { faultOf, UsageError } from './faults.ts'
import { printFault, printReport } from './output.ts'

const commands = new Map<string, Command>([
  ['setup', setup],
  ['setup:code', setupCode],
  ['user:create', userCreate],
  ['user:reset-password', userResetPassword],
  ['user:reset-2fa', userResetTwoFactor],
  ['user:verify-email', userVerifyEmail],
  ['key:create', keyCreate],
  ['node:configure', nodeConfigure],
  ['node:reset-secret', nodeResetSecret],
  ['database-host:create', databaseHostCreate],
  ['database-host:test', databaseHostTest],
  ['database:move', databaseMove],
  ['backup:create', backupCreate],
  ['backup:restore', backupRestore],
  ['backup:test', backupTest],
  ['mail:test', mailTest],
  ['egg:import', eggImport],
  ['import:pterodactyl', importPterodactyl],
  ['import:pelican', importPelican],
  ['import:verify', importVerify],
  ['job:list', jobList],
  ['job:retry', jobRetry],
  ['job:discard', jobDiscard],
  ['queue:schedule', queueSchedule],
  ['secrets:rotate', secretsRotate],
  ['service:install', serviceInstall],
  ['upgrade:check', upgradeCheck],
  ['doctor', doctor],
])

/** Verbs of earlier versions with their current names. They continue to work, but are not listed. */
const aliases = new Map([['secrets:reseal', 'secrets:rotate']])

const globalOptions = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  ...createOption,
} as const

await main(process.argv.slice(2))

async function main(args: string[]): Promise<void> {
  const isJson = args.includes('--json')
  const [name, ...rest] = args.filter((arg, index) => index > 0 || arg !== '--json')
  const command = commands.get(aliases.get(name ?? '') ?? name ?? '')
  try {
    const report = await runCommand(name, command, rest)
    printReport(report, isJson)
    process.exitCode = report.exitCode ?? 0
  } catch (error) {
    printFault(faultOf(error), isJson)
    if (error instanceof UsageError) console.error(`\n${command ? helpOf(command) : overview()}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

async function runCommand(
  name: string | undefined,
  command: Command | undefined,
  args: string[],
): Promise<Report> {
  const isHelp = [name, ...args].some((arg) => arg === '--help' || arg === '-h')
  if (isHelp) {
    const help = command ? helpOf(command) : overview()
    return { text: help, json: { help } }
  }
  if (name === '--version') return { text: version, json: { version } }
  if (!command) throw new UsageError(name === undefined ? 'A verb is missing.' : `There is no verb ${name}.`)
  const commandArgs = parse(command, args)
  requireArguments(command, commandArgs)
  return command.run(process.env, commandArgs)
}

function parse(command: Command, args: string[]) {
  try {
    const options = { ...command.options, ...globalOptions }
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    return { values, positionals }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function helpOf({ synopsis, summary, help }: Command): string {
  return `Usage: ${commandOf('panel', synopsis)} [--json]\n\n${summary}\n\n${help}`
}

function overview(): string {
  const width = Math.max(...[...commands.keys()].map((name) => name.length))
  const lines = [...commands].map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return `Usage: ${commandOf('panel', 'VERB [options]')}

${lines.join('\n')}

  --help     shows the options of a verb
  --version  prints the version of this panel
  --create   creates the embedded database where there is none
  --json     prints one JSON document, also for errors ({"error": …, "issues": […]}); use npm run -s

Each verb prints on standard error which database it works on. With the embedded database, the panel that runs on
DATA_DIR executes the verb, if there is one.
Exit codes: 0 done, 1 refused or failed, 2 invalid arguments.`
}
