import { getTableColumns, getTableName, inArray } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { decrypt } from '../../domain/secrets.ts'
import type { Panel } from '../../panel.ts'
import { keyColumns, keyOf, stable } from './ledger.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { eachBatch, type MoveOptions, openMove, phasesOf } from './phases.ts'

/** A row that differs from the old panel's, or is missing. */
export type Difference = { table: string; id: number; columns: string[] }

/** How many differences are listed. */
export const maxDifferences = 100

/** Compares each row that can move with this panel's, secrets decrypted. Returns the first 100 that differ. */
export async function verifyMove(
  panel: Panel,
  options: MoveOptions,
): Promise<{ move: Move; differences: Difference[] }> {
  const move = await openMove(options)
  const differences: Difference[] = []
  for (const step of phasesOf(options.kind).flat()) {
    await eachBatch(step, move, async (rows) => {
      if ((!step.key || step.isVerified) && differences.length < maxDifferences)
        differences.push(...(await compareRows(panel, step, rows)))
    })
  }
  return { move, differences: differences.slice(0, maxDifferences) }
}

async function compareRows(panel: Panel, step: Step, rows: MovedRow[]): Promise<Difference[]> {
  const keys = rows.map(({ values }) => keyOf(step, values))
  const [name = 'id'] = keyColumns(step)
  const column = (getTableColumns(step.target) as Record<string, PgColumn>)[name] as PgColumn
  const found = (await panel.db
    .select()
    .from(step.target as PgTable)
    .where(
      inArray(
        column,
        rows.map(({ values }) => values[name]),
      ),
    )) as Record<string, unknown>[]
  const byKey = new Map(found.map((row) => [keyOf(step, row), row]))
  const table = getTableName(step.target)
  const uncompared = new Set(['updatedAt', ...(step.changing ?? []), ...(step.unsettled ?? [])])
  const compared = rows.map(async ({ values, secrets = [] }, at): Promise<Difference> => {
    const row = byKey.get(keys[at] ?? '')
    const id = Number(values.id ?? 0)
    const named = (columns: string[]) =>
      step.key ? columns.map((column) => `${String(values[name])} ${column}`) : columns
    if (!row) return { table, id, columns: named(['(missing)']) }
    const columns = Object.keys(values).filter(
      (name) => !uncompared.has(name) && stable(values[name]) !== stable(row[name]),
    )
    const plain = await Promise.all(
      secrets.map(async ({ column, plain: expected, location }) => {
        const stored = row[column]
        const isEqual = typeof stored === 'string' && (await decrypt(panel, stored, location)) === expected
        return isEqual ? [] : [column]
      }),
    )
    return { table, id, columns: named([...columns, ...plain.flat()]) }
  })
  return (await Promise.all(compared)).filter(({ columns }) => columns.length > 0)
}
