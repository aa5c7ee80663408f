import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Env, readEnv } from '../../platform/env.ts'
import {
  callOperation,
  type Command,
  type CommandArguments,
  isSet,
  type Report,
  textOption,
} from '../command.ts'
import { UsageError } from '../faults.ts'
import { readOldEnv } from '../move-in/old-env.ts'
import type { MoveProgress } from '../move-in/progress.ts'
import type { MoveInResult } from '../operations/move-in.ts'

const sourceOptions = {
  database: { type: 'string' },
  dump: { type: 'string' },
  'dump-timezone': { type: 'string' },
  'ignore-columns': { type: 'string' },
  env: { type: 'string' },
  'app-key': { type: 'string' },
  'previous-keys': { type: 'string' },
  timezone: { type: 'string' },
  activity: { type: 'string' },
} as const

const sourceHelp = (
  otherDatabases: string,
) => `  --dump FILE           what mysqldump or mariadb-dump wrote, plain or gzip
  --database URL        the live database, which is only read: mysql://user:password@host:port/database${otherDatabases}
  --env FILE            the old panel's .env: its keys, settings, address, time zone and what it writes ids with are read
  --app-key KEY         its APP_KEY, in place of --env
  --previous-keys KEYS  its APP_PREVIOUS_KEYS, separated by commas
  --timezone ZONE       time zone of its schedules. Default: APP_TIMEZONE of --env, or UTC; the same in each run
  --dump-timezone ZONE  zone of the dates of a dump made with --skip-tz-utc
  --activity WHICH      all, none, or that of the last days, as 90d. Default: of as many days as this panel keeps it
  --ignore-columns A.B  leaves the column B of the table A behind, which this version does not know; several by commas`
const pelicanDatabases = ',\n                        of Pelican also postgres://… or sqlite:FILE'

const commandOfPanel = (kind: 'pterodactyl' | 'pelican', name: string): Command => ({
  synopsis: `import:${kind} (--dump FILE | --database URL) (--env FILE | --app-key KEY) [options]`,
  summary: `Moves everything of a ${name} here: accounts, keys, nodes, servers. See docs/moving-in.md.`,
  help: `${sourceHelp(kind === 'pelican' ? pelicanDatabases : '')}
  --check               reports what would come and what cannot, and writes nothing
  --since               carries over what changed, came and went there since an earlier run
  --correct-timezone    takes the time zone that is given in place of that of the first run, and carries over as --since
  --create              prepares an empty target first, also with --check: creates the database of DATABASE_URL where it
                        is not there, or the embedded one, and its tables

A run that was interrupted is repeated: rows that are here already stay. Exit code 1 where --check finds rows that
forbid the move. The verb import:verify then compares both panels.`,
  options: {
    ...sourceOptions,
    check: { type: 'boolean' },
    since: { type: 'boolean' },
    'correct-timezone': { type: 'boolean' },
  },
  positionals: [0, 0],
  run: async (raw, args) => {
    const mode = isSet(args, 'check') ? 'check' : 'write'
    const since = isSet(args, 'since')
    if (since && mode === 'check') throw new UsageError('Use either --check or --since.')
    const correctTimezone = isSet(args, 'correct-timezone')
    const input = { kind, mode, since, correctTimezone, ...(await sourceOf(args)) }
    if (correctTimezone && !('timezone' in input))
      throw new UsageError('Use --correct-timezone with --timezone, or with --env that has APP_TIMEZONE.')
    const env = readEnv(raw)
    if (env.DATABASE_URL) {
      const { prepareTarget } = await import('../move-in/prepare-target.ts')
      await prepareTarget(env.DATABASE_URL, isSet(args, 'create'))
    }
    return runMove(env, args, `import:${kind}`, input)
  },
})

/** `import:pterodactyl` */
export const importPterodactyl = commandOfPanel('pterodactyl', 'Pterodactyl')
/** `import:pelican` */
export const importPelican = commandOfPanel('pelican', 'Pelican')

/** `import:verify` */
export const importVerify: Command = {
  synopsis: 'import:verify (--dump FILE | --database URL) (--env FILE | --app-key KEY) [options]',
  summary: 'Compares a Pterodactyl or Pelican with what moved here. See docs/moving-in.md.',
  help: `${sourceHelp(pelicanDatabases)}
  --old-url URL         where the old panel still answers: asks both panels the same, as some of the keys and nodes, and
                        lists the fields that differ
  --new-url URL         where this one answers. Default: APP_URL

Which of the two panels it is shows in the schema. Exit code 1 where something differs.`,
  options: { ...sourceOptions, 'old-url': { type: 'string' }, 'new-url': { type: 'string' } },
  positionals: [0, 0],
  run: async (raw, args) => {
    const env = readEnv(raw)
    const input = { mode: 'verify', panels: panelsOf(args, env.APP_URL), ...(await sourceOf(args)) }
    return runMove(env, args, 'import:verify', input)
  },
}

async function runMove(env: Env, args: CommandArguments, verb: string, input: object): Promise<Report> {
  const { hearProgress } = await import('../move-in/progress.ts')
  hearProgress((progress) => process.stderr.write(`${lineOf(progress, isSet(args, 'json'))}\n`))
  const result = await callOperation<MoveInResult>(env, args, verb, input)
  const isRefused = result.findings.some(({ what }) => what === 'refused')
  const isDifferent = result.differences.length > 0 || (result.wires?.differences.length ?? 0) > 0
  return { text: formatResult(result), json: result, exitCode: isRefused || isDifferent ? 1 : 0 }
}

function panelsOf(args: CommandArguments, url: string | undefined) {
  const [old, current] = [textOption(args, 'old-url'), textOption(args, 'new-url') ?? url]
  if (old === undefined) return undefined
  if (current === undefined) throw new UsageError('Missing: --new-url, since APP_URL is not set.')
  return { old, current }
}

function activityOf(args: CommandArguments): string | undefined {
  const text = textOption(args, 'activity')
  if (text !== undefined && !/^(?:all|none|\d{1,5}d)$/.test(text))
    throw new UsageError('Use --activity all, --activity none, or a number of days: --activity 90d.')
  return text
}

/** Paths become absolute: a panel that runs does the work in its own folder. */
async function sourceOf(args: CommandArguments) {
  const [database, dump] = [textOption(args, 'database'), textOption(args, 'dump')]
  if ((database === undefined) === (dump === undefined))
    throw new UsageError('Use either --dump or --database.')
  return {
    database: database?.replace(/^sqlite:(?=.)(.*)$/s, (_, path: string) => `sqlite:${resolve(path)}`),
    dump: dump && resolve(dump),
    dumpTimezone: textOption(args, 'dump-timezone'),
    ignoreColumns: textOption(args, 'ignore-columns')?.split(',').filter(Boolean),
    activity: activityOf(args),
    ...(await oldSettings(args)),
  }
}

async function oldSettings(
  args: CommandArguments,
): Promise<{ keys: string[]; env?: Record<string, string> } & ReturnType<typeof zoneOf>> {
  const file = textOption(args, 'env')
  const said = file === undefined ? null : readOldEnv(await readFile(file, 'utf8'))
  const key = textOption(args, 'app-key') ?? said?.key
  if (!key) throw new UsageError('Missing: --env with an APP_KEY, or --app-key')
  const previous = textOption(args, 'previous-keys') ?? said?.previousKeys ?? ''
  const keys = [key, ...previous.split(',').filter(Boolean)]
  return { keys, ...zoneOf(args, said?.timezone), ...(said && { env: said.env }) }
}

function zoneOf(args: CommandArguments, ofEnv: string | undefined) {
  const given = textOption(args, 'timezone')
  if (given !== undefined) return { timezone: given, timezoneFrom: 'option' }
  return ofEnv ? { timezone: ofEnv, timezoneFrom: 'env' } : {}
}

/** One line of progress, as JSON for programs. */
function lineOf(progress: MoveProgress, isJson: boolean): string {
  if (isJson) return JSON.stringify({ progress })
  const { phase, rows, total, rowsPerSecond, secondsLeft } = progress
  const left = secondsLeft === null ? '' : `, ${rowsPerSecond} a second, ${secondsLeft} seconds left`
  return `${phase}: ${rows} of ${total} rows${left}`
}

function formatResult(result: MoveInResult): string {
  const { mode, version, notes, tables, findings, removed, unknownTables, ignored } = result
  const { differences, seconds, peakMib } = result
  const counts = tables.map(
    ({ table, found, movable, written }) =>
      `${table.padEnd(18)} ${found} there, ${movable} can move${written === undefined ? '' : `, ${written} written now`}`,
  )
  const reasons = findings.map(
    ({ table, what, reason, count, ids }) =>
      `${what}: ${count} of ${table}${ids.length > 0 ? ` (${ids.join(', ')}${count > ids.length ? ', …' : ''})` : ''}: ${reason}`,
  )
  const gone = Object.entries(removed).map(
    ([table, rows]) => `deleted: ${rows} of ${table}, which are gone there`,
  )
  const unknown = unknownTables.map((table) => `left: the table ${table}, which is not one of that panel`)
  const unread = ignored.map(({ column, rows }) => `left: the column ${column}, which ${rows} rows have`)
  const differing = differences.map(
    ({ table, id, columns }) => `differs: ${table} ${id}: ${columns.join(', ')}`,
  )
  const isEqual =
    mode === 'verify' && differences.length === 0 ? ['Everything that can move is here and equal.'] : []
  return [
    version,
    ...notes,
    ...counts,
    ...reasons,
    ...gone,
    ...unknown,
    ...unread,
    ...differing,
    ...isEqual,
    ...formatWires(result.wires),
    `${seconds.toFixed(1)} seconds, ${peakMib} MiB of memory at most`,
  ].join('\n')
}

function formatWires(wires: MoveInResult['wires']): string[] {
  if (!wires) return []
  const differing = wires.differences.map(
    ({ caller, request, fields }) => `answers differently: ${request} for ${caller}: ${fields.join(', ')}`,
  )
  return [
    ...differing,
    `${wires.requests} requests were answered by both panels, ${differing.length} differently.`,
  ]
}
