import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { MoveInReport, MoveInStage } from '../../adapters/move-in.ts'
import { recordEvent } from '../../domain/activity/record.ts'
import type { Panel, Tx } from '../../panel.ts'
import { faultOf } from '../faults.ts'
import { hearProgressOf, type MoveProgress } from '../move-in/progress.ts'
import { setSpoolFolder } from '../move-in/spool.ts'
import type { MoveInResult } from '../operations/move-in.ts'
import { dispatchOperation } from '../operations.ts'
import type { DumpFolder } from './dump-folder.ts'
import { changeMove, deleteKeys, readSecrets, type StoredMove } from './stored-move.ts'

/** Milliseconds between two entries of how far a run is. */
const beatMs = 2_000

/** How a move ends before its last rows. */
export type EarlyEnd = 'cancelled' | 'interrupted'

/** A check or a move of this process. */
export type Run = {
  /** Names it in the record of the move. */
  name: string
  /** Ends it before its next rows, and undoes those of its phase. */
  cancel: (outcome: EarlyEnd) => void
}

/** What a run is about: the system, the dump and the record as it began. */
export type RunContext = { panel: Panel; folder: DumpFolder; move: StoredMove }

/** Thrown among the rows of a run that was cancelled. */
class EarlyEndError extends Error {
  readonly outcome: EarlyEnd

  constructor(outcome: EarlyEnd) {
    super(`The move was ${outcome}.`)
    this.name = 'EarlyEndError'
    this.outcome = outcome
  }
}

/** Returns a new name for a run. */
export const nameRun = (): string => randomUUID()

/** Checks the dump, or moves it in and compares, and notes in the record what came of it. Never rejects. */
export function beginRun(context: RunContext, since: boolean | null): Run & { ended: Promise<void> } {
  const pulse = startPulse(context)
  const work = () => (since === null ? check(context) : moveAndCompare(context, since))
  const ended = hearProgressOf(pulse.hear, work)
    .catch(() => undefined)
    .finally(pulse.stop)
  return { name: context.move.run ?? '', cancel: pulse.cancel, ended }
}

type Pulse = { hear: (progress: MoveProgress) => void; cancel: Run['cancel']; stop: () => void }

/** Notes every two seconds that this process works, and how far it is; finds out that another one cancelled. */
function startPulse({ panel, move: { run } }: RunContext): Pulse {
  let progress: MoveProgress | null = null
  let outcome: EarlyEnd | null = null
  let isBusy = false
  const beat = async () => {
    if (isBusy) return
    isBusy = true
    try {
      const beatAt = new Date().toISOString()
      const stored = await changeMove(panel, (move) =>
        move?.run === run ? { ...move, beatAt, ...(progress && { progress }) } : undefined,
      )
      if (stored?.run !== run || stored.isCancelling) outcome ??= 'cancelled'
    } catch {
      // The next beat tries again.
    } finally {
      isBusy = false
    }
  }
  const timer = setInterval(() => void beat(), beatMs)
  return {
    hear: (heard) => {
      if (outcome) throw new EarlyEndError(outcome)
      progress = heard
    },
    cancel: (early) => void (outcome ??= early),
    stop: () => clearInterval(timer),
  }
}

async function check(context: RunContext): Promise<void> {
  try {
    const report = await dispatch(context, 'check')
    await finish(context, { stage: 'checked', report: reportOf(report), fault: null })
  } catch (error) {
    // A check is repeated with its keys.
    await finish(context, { stage: 'uploaded', report: null, fault: readableFault(error) }, deleteKeys)
  }
}

async function moveAndCompare(context: RunContext, since: boolean): Promise<void> {
  try {
    const result = await dispatch(context, 'write', since)
    const report = reportOf(result)
    await finish(context, { stage: 'comparing', report, fault: null, progress: null })
  } catch (error) {
    if (error instanceof EarlyEndError) return end(context, { stage: error.outcome })
    return finish(context, { stage: 'failed', fault: readableFault(error) }, (tx) =>
      recordEnd(tx, context.move, 'failed'),
    )
  }
  try {
    const { differences } = await dispatch(context, 'verify')
    await end(context, { stage: 'done', differences })
  } catch (error) {
    await end(context, { stage: 'done', fault: readableFault(error) })
  }
}

async function dispatch({ panel, folder, move }: RunContext, mode: MoveInResult['mode'], since = false) {
  await mkdir(folder.path, { recursive: true, mode: 0o700 })
  setSpoolFolder(folder.path)
  const secrets = await readSecrets(panel)
  const input = {
    kind: move.kind,
    dump: folder.pathOf(move.id),
    dumpTimezone: move.dumpTimezone ?? undefined,
    ignoreColumns: move.ignoreColumns,
    ...secrets,
    ...zoneOf(move, secrets.env),
    correctTimezone: mode !== 'verify' && move.correctTimezone === true,
    mode,
    since,
  }
  const verb = mode === 'verify' ? 'import:verify' : `import:${move.kind}`
  return (await dispatchOperation(panel, { verb, input })) as MoveInResult
}

/** The page sends the zone that it read in the `.env`. */
function zoneOf({ timezone }: StoredMove, env: Record<string, string> | null) {
  if (timezone === null) return {}
  return { timezone, timezoneFrom: env?.APP_TIMEZONE === timezone ? 'env' : 'option' }
}

type Outcome = Partial<StoredMove> & { stage: MoveInStage }

/** Notes what came of a run, unless the record is about another one by now. */
async function finish(
  { panel, move: { run } }: RunContext,
  outcome: Outcome,
  also: (tx: Tx) => Promise<unknown> = async () => undefined,
): Promise<void> {
  await changeMove(panel, async (move, tx) => {
    if (move?.run !== run) return undefined
    await also(tx)
    const isOver = outcome.stage !== 'comparing'
    return { ...move, ...outcome, ...(isOver && { run: null, isCancelling: false, progress: null }) }
  })
}

/** Does the same for what ends the move, and deletes the dump and the keys. */
async function end(context: RunContext, outcome: Outcome): Promise<void> {
  await finish(context, { ...outcome, expiresAt: null }, async (tx) => {
    await deleteKeys(tx)
    await recordEnd(tx, context.move, outcome.stage)
  })
  await context.folder.forget(context.move.id)
}

/** Records `admin:move-in.end`. */
export const recordEnd = (tx: Tx, { kind }: StoredMove, outcome: string) =>
  recordEvent({ ...tx, actor: { kind: 'system' } }, 'admin:move-in.end', {
    properties: { panel: kind, outcome },
  })

function readableFault(error: unknown): StoredMove['fault'] {
  const { error: message, issues = [] } = faultOf(error)
  return { error: message, issues: issues.map(({ field, problem }) => ({ field, problem })) }
}

const reportOf = (result: MoveInResult): MoveInReport => ({
  version: result.version,
  tables: result.tables,
  findings: result.findings,
  removed: result.removed,
  unknownTables: result.unknownTables,
  ignored: result.ignored,
  notes: result.notes,
  seconds: result.seconds,
})
