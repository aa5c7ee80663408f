import * as z from 'zod'
import type { Panel } from '../../panel.ts'
import { getRelyingParty } from '../../domain/auth/passkeys/relying-party.ts'
import { getSetting } from '../../domain/settings/settings.ts'
import { isTimezone } from '../../domain/timezones.ts'
import { OperationError, reasonOf } from '../faults.ts'
import type { compareWires as CompareWires, WireComparison } from '../move-in/compare-wires.ts'
import type { Zone } from '../move-in/first-zone.ts'
import type { Move } from '../move-in/move.ts'
import type { Finding, TableCount } from '../move-in/report.ts'

const activityPattern = /^(?:all|none|\d{1,5}d)$/

/** The input of `import:pterodactyl`, `import:pelican` and `import:verify`. */
export const MoveInInput = () =>
  z.object({
    /** Found in the schema where it is not given. */
    kind: z.enum(['pterodactyl', 'pelican']).optional(),
    /** `mysql://…`; of Pelican `postgres://…` or `sqlite:FILE`, too. */
    database: z.string().optional(),
    /** An absolute path, in place of `database`. */
    dump: z.string().optional(),
    /** The zone of the dates of a dump that does not state one. */
    dumpTimezone: z.string().optional(),
    /** Columns that are left behind though they hold something, as `table.column`. */
    ignoreColumns: z.array(z.string()).default([]),
    /** What the old panel's `.env` says of settings, its address and ids. */
    env: z.record(z.string(), z.string()).nullish(),
    keys: z.array(z.string()).min(1, 'required'),
    timezone: z.string().refine(isTimezone, 'timezone').default('UTC'),
    /** What said so. */
    timezoneFrom: z.enum(['option', 'env', 'default']).default('default'),
    /** `all`, `none` or days as `90d`; left out it is what this panel keeps. */
    activity: z.string().regex(activityPattern, 'regex').optional(),
    mode: z.enum(['check', 'write', 'verify']),
    since: z.boolean().default(false),
    /** Whether the zone replaces that of the first run; what moved is then carried over as with `since`. */
    correctTimezone: z.boolean().default(false),
    /** Where both panels answer, to ask them the same when comparing. */
    panels: z.object({ old: z.url(), current: z.url() }).optional(),
  })

/** What came, or would come, and what cannot. */
export type MoveInResult = {
  mode: 'check' | 'write' | 'verify'
  tables: (TableCount & { written?: number })[]
  findings: Finding[]
  /** Rows that were deleted here since they are gone there, by table. */
  removed: Record<string, number>
  /** Tables of plugins, which are left. */
  unknownTables: string[]
  /** The versions that have the schema that was found. */
  version: string
  /** The time zone in which schedules run, and what said so. */
  timezone: Zone
  /** Sentences about the source. */
  notes: string[]
  /** Columns that were left behind by `ignoreColumns`, with their number of rows. */
  ignored: { column: string; rows: number }[]
  differences: { table: string; id: number; columns: string[] }[]
  /** What both panels answered; only where they were asked. */
  wires?: WireComparison
  seconds: number
  /** The largest resident memory of the process. */
  peakMib: number
}

type Input = z.output<ReturnType<typeof MoveInInput>>

/**
 * Reads the old panel into files, then checks, writes or compares. Refuses a schema, a key and rows that cannot be
 * moved before anything is written. Never writes to the old panel.
 */
export async function moveIn(panel: Panel, input: Input): Promise<MoveInResult> {
  // Loaded when needed, as what follows: the panel itself has no use for it.
  const [{ findKind, isSourceAddress, readSource }, { parseAppKeys }] = await Promise.all([
    import('../move-in/read-source.ts'),
    import('../move-in/laravel.ts'),
  ])
  const keys = refusing(() => parseAppKeys(input.keys))
  const kind = input.kind ?? (await findKind({ ...input, activity: null }).catch(throwRefusal))
  if (input.dump === undefined && !isSourceAddress(kind, input.database ?? ''))
    throw new OperationError(addressProblem[kind])
  const startedAt = Date.now()
  const { scopeOf } = await import('../move-in/activity-scope.ts')
  const activity = scopeOf(input.activity, await getSetting(panel, 'activity.retention_days'), panel.now())
  const spool = await readSource({ ...input, kind, activity }).catch(throwRefusal)
  try {
    const result = await moveRows(panel, input, { kind, keys, spool, activity })
    const peakMib = Math.round(process.resourceUsage().maxRSS / 1024)
    return { ...result, seconds: (Date.now() - startedAt) / 1000, peakMib }
  } finally {
    await spool.remove()
  }
}

/** Checks, writes or compares what was read. */
async function moveRows(
  panel: Panel,
  input: Input,
  read: Pick<Move, 'kind' | 'keys' | 'spool' | 'activity'>,
): Promise<Omit<MoveInResult, 'seconds' | 'peakMib'>> {
  const [schema, { runPasses }, { addSettings }, { hashidsOf }, { findLinkedHere }] = await Promise.all([
    import('../move-in/source-schema.ts'),
    import('../move-in/passes.ts'),
    import('../move-in/settings.ts'),
    import('../move-in/database-hashids.ts'),
    import('../move-in/identities.ts'),
  ])
  const { timezone, mode, env = null } = input
  const since = input.since || input.correctTimezone
  const { kind, spool } = read
  const zone = await acceptZone(panel, input)
  const unknownTables = refusing(() => schema.requireKnownSchema(kind, spool, input.ignoreColumns))
  const hashids = refusing(() => hashidsOf({ kind, env }))
  if (kind === 'pelican') await schema.addPelicanGroups(spool)
  const isUnknown = kind === 'pterodactyl' && !hashids && Boolean(spool.counts.get('databases'))
  const passkeyDomain = getRelyingParty(panel)?.id ?? null
  const linkedHere = await findLinkedHere(panel)
  const options = { ...read, timezone, now: panel.now(), env, passkeyDomain, linkedHere }
  await addSettings(panel, options)
  const passes = await runPasses(panel, { ...options, mode, since, requireMovable })
  const { move, written, removed, differences } = passes
  const wires = input.panels && (await compareBoth({ ...input.panels, ...read, hashids }))
  return {
    mode,
    tables: countsOf(move, written),
    findings: move.report.findings(),
    removed: Object.fromEntries(removed ?? []),
    unknownTables,
    version: schema.versionOf(kind, spool),
    timezone: zone.zone,
    notes: [...zone.notes, ...spool.notes, ...(isUnknown ? [unknownHashids] : [])],
    ignored: [...spool.unknownValues].map(([column, rows]) => ({ column, rows })),
    differences,
    ...(wires && { wires }),
  }
}

/** Refuses another zone than that of the first run, unless it is to replace it; returns what is said of it. */
async function acceptZone(panel: Panel, input: Input): Promise<{ zone: Zone; notes: string[] }> {
  const zones = await import('../move-in/first-zone.ts')
  const zone = { name: input.timezone, from: input.timezoneFrom }
  const first = await zones.readFirstZone(panel)
  if (!input.correctTimezone) refusing(() => zones.requireFirstZone(first, zone))
  return { zone, notes: [zones.describeZone(zone), ...zones.describeCorrection(first, zone)] }
}

const unknownHashids =
  'Without --env the ids that the old panel showed for databases are not known, and programs that stored one have to list them anew.'

async function compareBoth(options: Parameters<typeof CompareWires>[0]): Promise<WireComparison> {
  const { compareWires } = await import('../move-in/compare-wires.ts')
  return compareWires(options).catch(throwRefusal)
}

/** Runs what refuses with a message for the operator. */
function refusing<Value>(run: () => Value): Value {
  try {
    return run()
  } catch (error) {
    return throwRefusal(error)
  }
}

function throwRefusal(error: unknown): never {
  throw new OperationError(reasonOf(error))
}

const addressProblem = {
  pterodactyl:
    'The address of the database is not one of Pterodactyl: mysql://user:password@host:3306/panel.',
  pelican:
    'The address of the database is not one of Pelican: mysql://…, postgres://user:password@host:5432/panel or sqlite:FILE.',
}

const countsOf = ({ report, spool }: Move, written?: Map<string, number>): MoveInResult['tables'] =>
  [...report.movable].map(([table, movable]) => ({
    table,
    found: Math.max(
      movable,
      (sourceNames[table] ?? [table]).reduce((sum, name) => sum + (spool.counts.get(name) ?? 0), 0),
    ),
    movable,
    ...(written && { written: written.get(table) ?? 0 }),
  }))

/** Tables that have another name in the old panel. */
const sourceNames: Record<string, string[]> = {
  ssh_keys: ['user_ssh_keys'],
  activity: ['activity_logs', 'audit_logs'],
}

/** Throws with all rows that forbid the move. */
function requireMovable({ report }: Move): void {
  const refused = report.findings().filter(({ what }) => what === 'refused')
  if (refused.length === 0) return
  throw new OperationError(
    'Nothing was written.',
    refused.map(({ table, reason, ids }) => ({ field: table, problem: `${ids.join(', ')}: ${reason}` })),
  )
}
