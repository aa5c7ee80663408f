import { type CommandArguments, type Command, type Report, textOption } from '../command.ts'
import { UsageError } from '../faults.ts'
import { nextSteps, targets } from '../setup/next-steps.ts'
import type { SetupResult, SetupOptions } from '../setup/set-up.ts'
import { formatChecks } from './doctor.ts'

/** `setup` */
export const setup: Command = {
  synopsis: 'setup --out FILE [options]',
  summary:
    'Collects the variables of a panel in a file, generates its secrets, and checks all external services. Exit code 1 when a check fails.',
  help: `  --out FILE           file for the variables, which only you can read (mode 600). Existing values are
                       kept: run this again to add missing ones
  --from FILE          takes variables from another file before the environment
  --cloud CLOUD        workers, lambda or node (one Node process; the default)
  --write-routes FILE  writes the host of APP_URL and the zone into the routes of a wrangler.toml
  --zone ZONE          the zone of that host at Cloudflare

Generates APP_KEYS and METRICS_TOKEN when they are missing. Checks the configured services: PostgreSQL, Redis,
QStash with its signing keys, the object store and the mail server. Leaves nothing there and sends no mail.
Prints the next steps, and no secrets.`,
  options: {
    out: { type: 'string' },
    from: { type: 'string' },
    cloud: { type: 'string', default: 'node' },
    'write-routes': { type: 'string' },
    zone: { type: 'string' },
  },
  required: ['out'],
  positionals: [0, 0],
  run: async (raw, args) => {
    const setupOptions = readSetupOptions(args)
    // Loads the libraries of all services, which other verbs do not need.
    const { setUp } = await import('../setup/set-up.ts')
    return formatReport(setupOptions, await setUp(raw, setupOptions))
  },
}

function readSetupOptions(args: CommandArguments): SetupOptions {
  const [cloud, file, zone] = ['cloud', 'write-routes', 'zone'].map((name) => textOption(args, name))
  const target = targets.find((name) => name === cloud)
  if (!target) throw new UsageError(`--cloud ${cloud} is not workers, lambda or node.`)
  if ((file === undefined) !== (zone === undefined))
    throw new UsageError('Use --write-routes and --zone together.')
  if (file !== undefined && target !== 'workers')
    throw new UsageError('--write-routes requires --cloud workers.')
  return {
    target,
    out: textOption(args, 'out') ?? '',
    from: textOption(args, 'from'),
    routes: file === undefined || zone === undefined ? null : { file, zone },
  }
}

function formatReport({ target, out }: SetupOptions, outcome: SetupResult): Report {
  const { isWritten, hasDemo, added, kept, missing, checks } = outcome
  const isHealthy = checks.every(({ state }) => state !== 'fail')
  const next = isHealthy ? nextSteps(target, out, hasDemo) : []
  const blocks = [
    [
      `${out} ${isWritten ? 'was written' : 'is unchanged'}.`,
      ...added.map(({ name, from }) => `  ${name}: ${from === 'made' ? 'generated' : `from ${from}`}`),
      ...kept.map((name) => `  ${name}: kept, although another value was given; edit the file to change it`),
    ],
    [formatChecks(checks)],
    isHealthy
      ? ['Next:', ...next.map((line) => `  ${line}`)]
      : ['Fix the failed checks, and run this again.'],
  ]
  return {
    text: blocks.map((lines) => lines.join('\n')).join('\n\n'),
    json: { file: out, written: isWritten, added, kept, missing, checks, next },
    exitCode: isHealthy ? 0 : 1,
  }
}
