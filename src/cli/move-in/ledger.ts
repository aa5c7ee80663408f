import { createHmac } from 'node:crypto'
import { and, eq, getTableColumns, getTableName, inArray, sql, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { movedRows } from '../../db/schema.ts'
import { decrypt } from '../../domain/secrets.ts'
import type { Tx } from '../../panel.ts'
import type { Move, MovedRow, Step } from './move.ts'

/** A row as it is in this panel, by the names of its columns in code. */
export type PanelRow = Record<string, unknown>

/** What digests are keyed with. */
type Keyed = Pick<Move, 'keys'>

/** The columns by which rows of a step are known. */
export const keyColumns = (step: Step): readonly string[] => step.key ?? ['id']

/** The key of a row in the record of what moved: its values as a JSON list. */
export const keyOf = (step: Step, values: Record<string, unknown>): string =>
  JSON.stringify(keyColumns(step).map((name) => values[name]))

/** The condition that finds a row by its key. */
export function matchesKey(step: Step, key: string): SQL | undefined {
  const columns = getTableColumns(step.target) as Record<string, PgColumn>
  const values = JSON.parse(key) as unknown[]
  return and(...keyColumns(step).map((name, at) => eq(columns[name] as PgColumn, values[at])))
}

/** Names of the columns of a row that both panels keep alike until one of them changes it. */
const carriedColumns = (step: Step, { values }: MovedRow): string[] =>
  Object.keys(values).filter((name) => name !== 'updatedAt' && !step.unsettled?.includes(name))

/** The digest of what a row of the old panel becomes, secrets included. Keyed, so that it tells no secret. */
export function digestOfSource(move: Keyed, step: Step, row: MovedRow): string {
  const secrets = Object.fromEntries((row.secrets ?? []).map(({ column, plain }) => [column, plain]))
  const values = Object.fromEntries(carriedColumns(step, row).map((name) => [name, row.values[name] ?? null]))
  return digestOf(move, { ...values, ...secrets })
}

/** The digest of a row of this panel, over what `source` brings. */
export async function digestOfPanel(tx: Tx, move: Keyed, step: Step, row: PanelRow, source: MovedRow) {
  const secrets = (source.secrets ?? []).map(async ({ column, location }) => {
    const stored = row[column]
    return [column, typeof stored === 'string' ? await decrypt(tx, stored, location) : null]
  })
  const values = Object.fromEntries(carriedColumns(step, source).map((name) => [name, row[name] ?? null]))
  return digestOf(move, { ...values, ...(Object.fromEntries(await Promise.all(secrets)) as PanelRow) })
}

const digestOf = ({ keys: [key] }: Keyed, values: Record<string, unknown>): string =>
  createHmac('sha256', key ?? '')
    .update(stable(values))
    .digest('base64url')

/** Returns the digests of those of the rows that moved already, by key. */
export async function findMoved(tx: Tx, step: Step, keys: string[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const found = await tx.db
    .select({ key: movedRows.key, digest: movedRows.digest })
    .from(movedRows)
    .where(and(eq(movedRows.tableName, getTableName(step.target)), inArray(movedRows.key, keys)))
  return new Map(found.map(({ key, digest }) => [key, digest]))
}

/** Notes that rows moved, or how they are now. One statement. */
export async function recordMoved(
  tx: Tx,
  step: Step,
  records: { key: string; digest: string }[],
): Promise<void> {
  if (records.length === 0) return
  const tableName = getTableName(step.target)
  await tx.db
    .insert(movedRows)
    .values(records.map((record) => ({ tableName, ...record })))
    .onConflictDoUpdate({
      target: [movedRows.tableName, movedRows.key],
      set: { digest: sql`excluded.digest` },
    })
}

/** Writes a value as JSON with the keys of objects in order, which `jsonb` does not keep. */
export const stable = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
