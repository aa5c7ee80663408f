import { getTableName, sql } from 'drizzle-orm'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { carryOver, removeGone } from './carry-over.ts'
import { recordZone } from './first-zone.ts'
import { insertRows } from './insert-rows.ts'
import { digestOfSource, findMoved, keyOf } from './ledger.ts'
import { renumberRows } from './renumber-rows.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { eachBatch, type MoveOptions, openMove, phasesOf } from './phases.ts'
import { insertOrWait, type Waiting, writeWaiting } from './waiting-rows.ts'

/** How a run writes. */
export type WriteOptions = MoveOptions & {
  /** Whether rows that changed or are gone in the old panel since they moved are carried over. */
  since: boolean
  /** The pass that read everything. */
  checked: Move
  /** Hears of each phase before its transaction, and of the rows that were read in it. */
  onProgress: (phase: string, rows: number) => void
}

/** What a run wrote, and deleted, by table. */
export type Written = { move: Move; written: Map<string, number>; removed: Map<string, number> }

/**
 * Writes everything that can move, one transaction a phase, with a record of each row. Rows that moved already stay, and
 * those that were deleted here stay away, so a run after a crash adds what is missing.
 */
export async function writeMove(panel: Panel, options: WriteOptions): Promise<Written> {
  const { since, checked, onProgress } = options
  const move = await openMove(options)
  const written = new Map<string, number>()
  const removed = new Map<string, number>()
  const remove = async (isLast: boolean) => {
    if (!since) return
    onProgress('rows that are gone', 0)
    for (const [table, rows] of await removeGone(panel, move, checked, isLast)) count(removed, table, rows)
  }
  await renumberRows(panel, checked)
  // Before, since new rows may have the values of those; after, since rows may have left their parents.
  await remove(false)
  for (const [at, steps] of phasesOf(options.kind).entries()) {
    const phase = [...new Set(steps.map(({ source }) => source))].join(', ')
    onProgress(phase, 0)
    await inTransaction(panel, async (tx) => {
      for (const step of steps) {
        const rows = await writeStep(tx, step, move, since, (read) => onProgress(phase, read))
        count(written, getTableName(step.target), rows)
      }
      for (const step of steps) await step.after?.(tx, move)
      if (at === 0) await recordZone(tx, options.timezone)
    })
  }
  await remove(true)
  return { move, written, removed }
}

const count = (counts: Map<string, number>, table: string, rows: number) =>
  counts.set(table, (counts.get(table) ?? 0) + rows)

async function writeStep(
  tx: Tx,
  step: Step,
  move: Move,
  since: boolean,
  onRead: (rows: number) => void,
): Promise<number> {
  let written = 0
  const touched = new Set<number>()
  move.touched.set(step.source, touched)
  const waiting: Waiting = { fresh: [], changed: [] }
  const write = async (rows: MovedRow[]) => {
    const keys = rows.map(({ values }) => keyOf(step, values))
    const moved = await findMoved(tx, step, keys)
    const fresh = rows.filter((_, at) => !moved.has(keys[at] ?? ''))
    written += since
      ? await insertOrWait(tx, step, move, fresh, waiting)
      : await insertRows(tx, step, move, fresh)
    for (const { values } of fresh) touched.add(Number(values.id))
    for (const [at, row] of rows.entries()) {
      const digest = moved.get(keys[at] ?? '')
      if (digest === undefined || digest === digestOfSource(move, step, row)) continue
      const id = Number(row.values.id)
      if (!since) {
        move.report.leaveOut(step.source, id, 'changed there since it moved: --since carries it over')
        continue
      }
      const outcome = await carryOver(tx, step, move, { row, digest })
      if (outcome === 'taken') waiting.changed.push({ row, digest })
      if (outcome !== 'written') continue
      written += 1
      touched.add(id)
    }
  }
  await eachBatch(step, move, write, onRead)
  for (const id of await writeWaiting(tx, step, move, waiting)) {
    written += 1
    touched.add(id)
  }
  if (!step.key) await raiseSequence(tx, getTableName(step.target))
  return written
}

/** New rows get ids after those that moved. */
async function raiseSequence(tx: Tx, table: string): Promise<void> {
  const name = sql.identifier(table)
  await tx.db.execute(
    sql`select setval(sequence, max(id)) from ${name}, pg_get_serial_sequence(${table}, 'id') as sequence
      group by sequence having max(id) > coalesce(pg_sequence_last_value(sequence::regclass), 0)`,
  )
}
