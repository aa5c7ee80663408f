import { getTableColumns, inArray, sql } from 'drizzle-orm'
import { type PgColumn, type PgTable, PgText } from 'drizzle-orm/pg-core'
import type { Tx } from '../../panel.ts'
import { attempt, carryOver, type ChangedRow, overwriteRow } from './carry-over.ts'
import { insertRows } from './insert-rows.ts'
import type { Move, MovedRow, Step } from './move.ts'

/** Rows that cannot be written yet, since others have values here that they gave up there. */
export type Waiting = { fresh: MovedRow[]; changed: ChangedRow[] }

/** Inserts rows; those that the database refuses wait. Returns how many were written. */
export async function insertOrWait(
  tx: Tx,
  step: Step,
  move: Move,
  rows: MovedRow[],
  waiting: Waiting,
): Promise<number> {
  let written = 0
  const failure = await attempt(tx, async () => {
    written = await insertRows(tx, step, move, rows)
  })
  if (!failure) return written
  if (rows.length === 1) waiting.fresh.push(...rows)
  else for (const row of rows) written += await insertOrWait(tx, step, move, [row], waiting)
  return rows.length === 1 ? 0 : written
}

/**
 * Writes the rows that waited, again and again while one of them makes room for another; last those that exchanged their
 * values. Reports what remains. Returns the ids of those that were written.
 */
export async function writeWaiting(tx: Tx, step: Step, move: Move, waiting: Waiting): Promise<number[]> {
  const written: number[] = []
  const retry = async () => {
    const { fresh, changed } = waiting
    Object.assign(waiting, { fresh: [], changed: [] })
    const before = written.length
    for (const each of changed) {
      const outcome = await carryOver(tx, step, move, each)
      if (outcome === 'taken') waiting.changed.push(each)
      if (outcome === 'written') written.push(idOf(each.row))
    }
    for (const row of fresh)
      if ((await insertOrWait(tx, step, move, [row], waiting)) > 0) written.push(idOf(row))
    return written.length > before
  }
  while (waiting.fresh.length + waiting.changed.length > 0 && (await retry())) continue
  if (await exchange(tx, step, move, waiting.changed)) {
    written.push(...waiting.changed.map(({ row }) => idOf(row)))
    waiting.changed = []
    await retry()
  }
  for (const row of [...waiting.changed.map(({ row: changed }) => changed), ...waiting.fresh])
    move.report.leaveOut(step.source, idOf(row), 'cannot be written here: another row here has its values')
  // What belongs to rows that did not come does not come either.
  for (const row of waiting.fresh) move.moved.get(step.source)?.delete(idOf(row))
  return written
}

const idOf = ({ values }: MovedRow): number => Number(values.id)

/** Writes rows that have each other's values: first each gets values of its own. Returns whether it could. */
async function exchange(tx: Tx, step: Step, move: Move, changed: ChangedRow[]): Promise<boolean> {
  const columns = getTableColumns(step.target) as Record<string, PgColumn>
  const names = (step.unique ?? []).flat().filter((name) => columns[name] instanceof PgText)
  const { id } = columns
  if (changed.length === 0 || names.length === 0 || !id) return false
  const own = Object.fromEntries(names.map((name) => [name, sql`'moving-' || ${id}`]))
  const failure = await attempt(tx, async () => {
    await tx.db
      .update(step.target as PgTable)
      .set(own as never)
      .where(
        inArray(
          id,
          changed.map(({ row }) => idOf(row)),
        ),
      )
    for (const { row } of changed) await overwriteRow(tx, step, move, row)
  })
  return !failure
}
