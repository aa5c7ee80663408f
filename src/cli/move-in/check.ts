import { getTableColumns, inArray, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Panel } from '../../panel.ts'
import { findMoved, keyOf } from './ledger.ts'
import { isRenumbered } from './renumber-rows.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { eachBatch, type MoveOptions, openMove, phasesOf } from './phases.ts'

/** `since` as in a run that writes. */
type CheckOptions = MoveOptions & { since: boolean }

/** Reads everything, and reports what would come and what cannot. Writes nothing. */
export async function checkMove(panel: Panel, options: CheckOptions): Promise<Move> {
  const { since, ...opening } = options
  const move = await openMove(opening)
  for (const step of phasesOf(options.kind).flat()) {
    const seen = new Map<string, number>()
    await eachBatch(step, move, async (rows) => {
      findRepeated(step, move, rows, seen)
      findUnfitting(step, move, rows)
      if (!step.key) await findClashes(panel, step, move, { rows, since })
    })
  }
  return move
}

/** Reports values that two rows of the old panel share where each may be used once. */
function findRepeated(step: Step, move: Move, rows: MovedRow[], seen: Map<string, number>): void {
  for (const name of step.unique ?? []) {
    for (const { values } of rows) {
      const value = [name].flat().map((part) => values[part])
      if (value.some((part) => part === null || part === undefined)) continue
      const key = `${String(name)}/${value.join('/').toLowerCase()}`
      const other = seen.get(key)
      if (other !== undefined)
        move.report.refuse(step.source, Number(values.id), `has the ${labelOf(name)} of row ${other}`)
      seen.set(key, other ?? Number(values.id))
    }
  }
}

/** Reports texts that this panel has no room for, and empty ones where it needs one. */
function findUnfitting(step: Step, move: Move, rows: MovedRow[]): void {
  for (const [name, most] of Object.entries(step.lengths ?? {}))
    for (const { values } of rows) {
      const text = values[name]
      if (typeof text !== 'string') continue
      const length = Array.from(text).length
      if (length > 0 && length <= most) continue
      const problem = length === 0 ? 'is empty' : `has ${length} characters, of ${most} at most`
      move.report.refuse(step.source, Number(values.id), `its ${labelOf(name)} ${problem}`)
    }
}

type CheckedRows = { rows: MovedRow[]; since: boolean }

/** Reports rows of this panel that did not move in and have the same id, and those with the same unique value. */
async function findClashes(panel: Panel, step: Step, move: Move, checked: CheckedRows): Promise<void> {
  const { rows } = checked
  const moved = await findMoved(
    panel,
    step,
    rows.map(({ values }) => keyOf(step, values)),
  )
  const { id } = getTableColumns(step.target) as Record<string, PgColumn>
  const fresh = rows.flatMap((row) => (moved.has(keyOf(step, row.values)) ? [] : [Number(row.values.id)]))
  const taken = await panel.db
    .select({ id: sql<number>`${id}` })
    .from(step.target as PgTable)
    .where(inArray(id as PgColumn, fresh))
  for (const row of taken)
    if (isRenumbered(step.source))
      move.report.change(step.source, row.id, 'the row of this panel with its id gets another id')
    else move.report.refuse(step.source, row.id, 'its id is used by another row of this panel')
  for (const name of step.unique ?? [])
    if (typeof name === 'string') await findSharedValues(panel, step, move, checked, name)
}

async function findSharedValues(
  panel: Panel,
  step: Step,
  move: Move,
  { rows, since }: CheckedRows,
  name: string,
) {
  const { id, [name]: column } = getTableColumns(step.target) as Record<string, PgColumn>
  const wanted = new Map(rows.map(({ values }) => [normal(values[name]), Number(values.id)]))
  const texts = [...wanted.keys()].filter((value) => value !== '')
  if (texts.length === 0 || !column) return
  const found = await panel.db
    .select({ id: sql<number>`${id}`, value: sql<string>`lower(${column}::text)` })
    .from(step.target as PgTable)
    .where(inArray(sql`lower(${column}::text)`, texts))
  const taken = found
    .map((row) => ({ ...row, id: Number(row.id) }))
    .filter(({ id: holder, value }) => wanted.get(value) !== holder)
  // What moved has the value no more in the old panel, or is gone there: --since makes room.
  const moved = await findMoved(
    panel,
    step,
    taken.map((row) => keyOf(step, row)),
  )
  for (const row of taken) {
    const isMoved = moved.has(keyOf(step, row))
    if (isMoved && since) continue
    const reason = `its ${labelOf(name)} is used by row ${row.id} of this panel`
    move.report.refuse(
      step.source,
      wanted.get(row.value) ?? 0,
      isMoved ? `${reason}, which moved: --since makes room` : reason,
    )
  }
}

const normal = (value: unknown) => String(value ?? '').toLowerCase()
const labelOf = (name: string | readonly string[]) =>
  [name]
    .flat()
    .join(', ')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
