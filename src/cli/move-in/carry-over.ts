import { and, eq, getTableName, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { movedRows } from '../../db/schema.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { digestOfPanel, digestOfSource, keyOf, matchesKey, type PanelRow, recordMoved } from './ledger.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { phasesOf } from './phases.ts'
import { encryptRow } from './secret-columns.ts'

/** A row of the old panel that differs from what moved, with the digest of that. */
export type ChangedRow = { row: MovedRow; digest: string }

/** What became of it; it is taken where another row has a value that may be used once. */
export type CarryOutcome = 'written' | 'left' | 'taken'

/**
 * Writes a row that changed in the old panel since it moved. What changed here too, or was deleted here, stays and is
 * reported.
 */
export async function carryOver(
  tx: Tx,
  step: Step,
  move: Move,
  { row, digest }: ChangedRow,
): Promise<CarryOutcome> {
  const key = keyOf(step, row.values)
  const id = Number(row.values.id)
  const found = await findRow(tx, step, key)
  if (!found) {
    move.report.leaveOut(step.source, id, 'changed there, but was deleted here since it moved')
    return 'left'
  }
  const [here, there] = [await digestOfPanel(tx, move, step, found, row), digestOfSource(move, step, row)]
  if (here !== digest && here !== there) {
    move.report.leaveOut(step.source, id, 'changed there, but also here since it moved: what is here stays')
    return 'left'
  }
  const failure = await attempt(tx, async () => {
    if (here !== there) await overwriteRow(tx, step, move, row)
    else await recordMoved(tx, step, [{ key, digest: there }])
  })
  if (!failure) return here === there ? 'left' : 'written'
  if (failure.code === uniqueViolation) return 'taken'
  move.report.leaveOut(step.source, id, `changed there, but cannot be written here: ${failure.message}`)
  return 'left'
}

/** Class 23 are violated constraints: rows that this panel has beside those that moved. */
const uniqueViolation = '23505'

/** Writes a row over what is here, and records it. */
export async function overwriteRow(tx: Tx, step: Step, move: Move, row: MovedRow): Promise<void> {
  const key = keyOf(step, row.values)
  // The id is generated, and cannot be set to what it is.
  const { id: _, ...values } = await encryptRow(tx, row)
  await tx.db
    .update(step.target as PgTable)
    .set(values as never)
    .where(matchesKey(step, key))
  await recordMoved(tx, step, [{ key, digest: digestOfSource(move, step, row) }])
}

async function findRow(tx: Tx, step: Step, key: string): Promise<PanelRow | undefined> {
  const [found] = await tx.db
    .select()
    .from(step.target as PgTable)
    .where(matchesKey(step, key))
  return found as PanelRow | undefined
}

/** Runs work within the transaction that is undone alone when the database refuses it. Returns the refusal. */
export async function attempt(
  tx: Tx,
  work: () => Promise<void>,
): Promise<{ code: string; message: string } | null> {
  await tx.db.execute(sql`savepoint attempt`)
  try {
    await work()
    await tx.db.execute(sql`release savepoint attempt`)
    return null
  } catch (error) {
    await tx.db.execute(sql`rollback to savepoint attempt`)
    const { cause } = error as { cause?: { message?: string; code?: string } }
    if (!cause?.code?.startsWith('23')) throw error
    return { code: cause.code, message: cause.message ?? cause.code }
  }
}

/**
 * Deletes the rows that moved and are gone in the old panel, children first, in one transaction. `present` is a pass that
 * read everything. What changed here since, or is needed here, stays; with `isLast` it is reported. Returns how many
 * rows were deleted, by table.
 */
export const removeGone = (panel: Panel, move: Move, present: Move, isLast: boolean) =>
  inTransaction(panel, async (tx) => {
    const removed = new Map<string, number>()
    for (const step of phasesOf(move.kind).flat().toReversed()) {
      if (step.staysWhenGone) continue
      const table = getTableName(step.target)
      const recorded = await tx.db.select().from(movedRows).where(eq(movedRows.tableName, table))
      const gone = recorded.filter(({ key }) => !present.presentKeys.get(table)?.has(key))
      for (const record of gone)
        if (await removeRow(tx, step, isLast ? move : null, record.key))
          removed.set(table, (removed.get(table) ?? 0) + 1)
    }
    return removed
  })

async function removeRow(tx: Tx, step: Step, move: Move | null, key: string): Promise<boolean> {
  const table = getTableName(step.target)
  let deleted: unknown[] = []
  const failure = await attempt(tx, async () => {
    deleted = await tx.db
      .delete(step.target as PgTable)
      .where(matchesKey(step, key))
      .returning({ one: sql`1` })
    await tx.db.delete(movedRows).where(and(eq(movedRows.tableName, table), eq(movedRows.key, key)))
    await tx.db.execute(sql`set constraints all immediate`)
  })
  const [id] = JSON.parse(key) as unknown[]
  if (failure)
    move?.report.leaveOut(step.source, Number(id), `is gone there, but is needed here: ${failure.message}`)
  return !failure && deleted.length > 0
}
