import { type Arguments, type Command, type Report, textOption } from '../command.ts'
import { UsageError } from '../faults.ts'
import { nextSteps, targets } from '../setup/next-steps.ts'
import type { Outcome, Wishes } from '../setup/set-up.ts'
import { table } from './doctor.ts'

/** `setup` */
export const setup: Command = {
  synopsis: 'setup --out FILE [options]',
  summary:
    'Gathers the variables of a panel in a file, makes its secrets, and checks every outside service. Exit code 1 when one fails.',
  help: `  --out FILE           where the variables go, for you alone to read (mode 600). What stands there
                       stays: running this again changes nothing, and fills in what is given since
  --from FILE          takes variables from another file; else from the environment
  --cloud CLOUD        workers, lambda or node (one Node process; the default)
  --write-routes FILE  puts the host of APP_URL and the zone into the routes of a wrangler.toml
  --zone ZONE          the zone at Cloudflare in which that host is

APP_KEYS and METRICS_TOKEN are made when they are missing. Of what is configured it tries PostgreSQL, Redis,
QStash with its signing keys, the object store and the mail server, and leaves nothing there; no mail is
sent. Prints no secret, and what to do next.`,
  options: {
    out: { type: 'string' },
    from: { type: 'string' },
    cloud: { type: 'string', default: 'node' },
    'write-routes': { type: 'string' },
    zone: { type: 'string' },
  },
  required: ['out'],
  words: [0, 0],
  run: async (raw, given) => {
    const wishes = wishesOf(given)
    // It knows all services, whose libraries other verbs do without.
    const { setUp } = await import('../setup/set-up.ts')
    return reportOf(wishes, await setUp(raw, wishes))
  },
}

function wishesOf(given: Arguments): Wishes {
  const [cloud, file, zone] = ['cloud', 'write-routes', 'zone'].map((name) => textOption(given, name))
  const target = targets.find((name) => name === cloud)
  if (!target) throw new UsageError(`Not understood: --cloud ${cloud}`)
  if ((file === undefined) !== (zone === undefined))
    throw new UsageError('--write-routes and --zone need each other.')
  if (file !== undefined && target !== 'workers')
    throw new UsageError('--write-routes is for --cloud workers.')
  return {
    target,
    out: textOption(given, 'out') ?? '',
    from: textOption(given, 'from'),
    routes: file === undefined || zone === undefined ? null : { file, zone },
  }
}

function reportOf({ target, out }: Wishes, outcome: Outcome): Report {
  const { isWritten, hasDemo, added, kept, missing, checks } = outcome
  const isFit = checks.every(({ state }) => state !== 'fail')
  const next = isFit ? nextSteps(target, out, hasDemo) : []
  const blocks = [
    [
      `${out} ${isWritten ? 'is written' : 'stays as it is'}.`,
      ...added.map(({ name, from }) => `  ${name}: ${from === 'made' ? 'made' : `from ${from}`}`),
      ...kept.map(
        (name) => `  ${name}: kept; what was given differs, so change it in the file if you mean it`,
      ),
    ],
    [table(checks)],
    isFit ? ['Next:', ...next.map((line) => `  ${line}`)] : ['Put right what fails, and run this again.'],
  ]
  return {
    text: blocks.map((lines) => lines.join('\n')).join('\n\n'),
    json: { file: out, written: isWritten, added, kept, missing, checks, next },
    exitCode: isFit ? 0 : 1,
  }
}
