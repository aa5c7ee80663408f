import { getTableColumns, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Tx } from '../../panel.ts'
import { digestOfSource, keyOf, recordMoved } from './ledger.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { encryptRow } from './secret-columns.ts'

/** Inserts rows that have not moved yet, and records that they did. Returns how many were written. */
export async function insertRows(tx: Tx, step: Step, move: Move, rows: MovedRow[]): Promise<number> {
  if (rows.length === 0) return 0
  const values = await Promise.all(rows.map((row) => encryptRow(tx, row)))
  const insert = tx.db.insert(step.target as PgTable)
  const { id } = getTableColumns(step.target) as Record<string, PgColumn>
  const inserted = await (
    step.key || !id
      ? insert.values(values as never).onConflictDoNothing()
      : insert
          .overridingSystemValue()
          .values(values as never)
          .onConflictDoNothing({ target: id })
  ).returning({ one: sql<number>`1` })
  await recordMoved(
    tx,
    step,
    rows.map((row) => ({ key: keyOf(step, row.values), digest: digestOfSource(move, step, row) })),
  )
  return inserted.length
}
