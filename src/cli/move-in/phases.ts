import { getTableName } from 'drizzle-orm'
import { accountSteps } from './accounts.ts'
import { eggSteps, mountSteps } from './eggs.ts'
import { readFacts } from './facts.ts'
import { keyOf } from './ledger.ts'
import { machineSteps } from './machines.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { openReport } from './report.ts'
import { serverPartSteps } from './server-parts.ts'
import { serverSteps } from './servers.ts'
import { settingsStep } from './settings.ts'
import { dateOf } from './values.ts'

/** What a move starts with. */
export type MoveOptions = Pick<
  Move,
  'kind' | 'keys' | 'timezone' | 'now' | 'env' | 'passkeyDomain' | 'linkedHere' | 'spool' | 'activity'
>

/** Steps by phase; each phase is one transaction. */
export const phasesOf = (kind: Move['kind']): Step[][] => [
  accountSteps(kind),
  machineSteps,
  eggSteps,
  serverSteps,
  mountSteps(kind),
  serverPartSteps,
  [settingsStep],
]

/** Opens a pass over the rows of the old panel. */
export const openMove = async (options: MoveOptions): Promise<Move> => ({
  ...options,
  report: openReport(),
  moved: new Map(),
  presentKeys: new Map(),
  touched: new Map(),
  seen: new Map(),
  recoveryCodes: new Map(),
  facts: await readFacts(options.spool),
})

/** Maps the rows of a step batch by batch, and counts those that can move. `onRead` hears how many were read. */
export async function eachBatch(
  step: Step,
  move: Move,
  handle: (rows: MovedRow[]) => Promise<void>,
  onRead: (rows: number) => void = () => undefined,
): Promise<void> {
  const table = getTableName(step.target)
  const moved = setOf(move.moved, step.source)
  const keys = setOf(move.presentKeys, table)
  move.report.count(table, 0)
  for await (const rows of move.spool.batches(step.source)) {
    const mapped = rows.flatMap((row) => step.map(row, move) ?? [])
    for (const { values } of mapped) {
      if (!step.key) moved.add(Number(values.id))
      keys.add(keyOf(step, values))
    }
    // A row that cannot move any more, as its parent is gone, is there all the same.
    if (!step.key)
      for (const row of rows) if (!dateOf(row, 'deleted_at')) keys.add(keyOf(step, { id: Number(row.id) }))
    move.report.count(table, mapped.length)
    if (mapped.length > 0) await handle(mapped)
    onRead(rows.length)
  }
}

function setOf<Key, Value>(sets: Map<Key, Set<Value>>, key: Key): Set<Value> {
  const set = sets.get(key) ?? new Set<Value>()
  sets.set(key, set)
  return set
}
