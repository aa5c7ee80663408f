import { getTableColumns, getTableName, inArray, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { decrypt, encrypt } from '../../domain/secrets.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { accountSteps } from './accounts.ts'
import { eggSteps, mountSteps } from './eggs.ts'
import { readFacts } from './facts.ts'
import { machineSteps } from './machines.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { openReport } from './report.ts'
import { serverPartSteps } from './server-parts.ts'
import { serverSteps } from './servers.ts'

/** What a move starts with. */
export type MoveOptions = Pick<Move, 'kind' | 'keys' | 'timezone' | 'now' | 'spool'>

/** Steps by phase; each phase is one transaction. */
const phasesOf = (kind: Move['kind']): Step[][] => [
  accountSteps,
  machineSteps,
  eggSteps,
  serverSteps,
  mountSteps(kind),
  serverPartSteps,
]

const openMove = async (options: MoveOptions): Promise<Move> => ({
  ...options,
  report: openReport(),
  moved: new Map(),
  facts: await readFacts(options.spool),
})

/** Maps the rows of a step batch by batch, and counts those that can move. */
async function eachBatch(step: Step, move: Move, handle: (rows: MovedRow[]) => Promise<void>): Promise<void> {
  const moved = move.moved.get(step.source) ?? new Set<number>()
  move.moved.set(step.source, moved)
  for await (const rows of move.spool.batches(step.source)) {
    const mapped = rows.flatMap((row) => step.map(row, move) ?? [])
    for (const { values } of mapped) if (!step.isPair) moved.add(Number(values.id))
    move.report.count(getTableName(step.target), mapped.length)
    if (mapped.length > 0) await handle(mapped)
  }
}

/** Reads everything, and reports what would come and what cannot. Writes nothing. */
export async function checkMove(panel: Panel, options: MoveOptions): Promise<Move> {
  const move = await openMove(options)
  for (const step of phasesOf(options.kind).flat()) {
    const seen = new Map<string, number>()
    await eachBatch(step, move, async (rows) => {
      findRepeated(step, move, rows, seen)
      if (!step.isPair) await findClashes(panel, step, move, rows)
    })
  }
  return move
}

/** Reports values that two rows of the old panel share where each may be used once. */
function findRepeated(step: Step, move: Move, rows: MovedRow[], seen: Map<string, number>): void {
  for (const name of step.unique ?? []) {
    for (const { values } of rows) {
      const value = values[name]
      if (value === null || value === undefined) continue
      const key = `${name}/${String(value).toLowerCase()}`
      const other = seen.get(key)
      if (other !== undefined)
        move.report.refuse(step.source, Number(values.id), `has the ${labelOf(name)} of row ${other}`)
      seen.set(key, other ?? Number(values.id))
    }
  }
}

/** Reports rows of this panel with the same id that are others, and those with the same unique value and another id. */
async function findClashes(panel: Panel, step: Step, move: Move, rows: MovedRow[]): Promise<void> {
  const columns = getTableColumns(step.target) as Record<string, PgColumn>
  for (const name of step.unique ?? []) {
    const [column, id] = [columns[name], columns.id]
    if (!column || !id) continue
    const byId = new Map(rows.map(({ values }) => [Number(values.id), normal(values[name])]))
    const wanted = new Map(rows.map(({ values }) => [normal(values[name]), Number(values.id)]))
    const texts = [...wanted.keys()].filter((value) => value !== '')
    if (texts.length === 0) continue
    const found = await panel.db
      .select({ id: sql<number>`${id}`, value: sql<string | null>`lower(${column}::text)` })
      .from(step.target as PgTable)
      .where(sql`${inArray(sql`lower(${column}::text)`, texts)} or ${inArray(id, [...byId.keys()])}`)
    for (const row of found) {
      const isFirst = name === step.unique?.[0]
      const sourceId = wanted.get(row.value ?? '')
      if (sourceId !== undefined && sourceId !== row.id)
        move.report.refuse(
          step.source,
          sourceId,
          `its ${labelOf(name)} is used by row ${row.id} of this panel`,
        )
      else if (isFirst && byId.has(row.id) && byId.get(row.id) !== row.value)
        move.report.refuse(step.source, row.id, 'its id is used by another row of this panel')
    }
  }
}

const normal = (value: unknown) => String(value ?? '').toLowerCase()
const labelOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * Writes everything that can move, one transaction a phase. Rows that are there already stay, so a run after a crash
 * adds what is missing. `onPhase` hears the phase before its transaction.
 */
export async function writeMove(
  panel: Panel,
  options: MoveOptions,
  onPhase: (phase: string) => void = () => undefined,
): Promise<Move & { written: Map<string, number> }> {
  const move = await openMove(options)
  const written = new Map<string, number>()
  for (const steps of phasesOf(options.kind)) {
    onPhase(steps.map(({ source }) => source).join(', '))
    await inTransaction(panel, async (tx) => {
      for (const step of steps) written.set(getTableName(step.target), await writeStep(tx, step, move))
      for (const step of steps) await step.after?.(tx, move)
    })
  }
  return { ...move, written }
}

async function writeStep(tx: Tx, step: Step, move: Move): Promise<number> {
  let written = 0
  await eachBatch(step, move, async (rows) => {
    const values = await Promise.all(rows.map((row) => encryptRow(tx, row)))
    const id = (getTableColumns(step.target) as Record<string, PgColumn>).id
    const insert = tx.db.insert(step.target as PgTable)
    const inserted = await (step.isPair || !id
      ? insert
          .values(values as never)
          .onConflictDoNothing()
          .returning({ id: sql<number>`1` })
      : insert
          .overridingSystemValue()
          .values(values as never)
          .onConflictDoNothing({ target: id })
          .returning({ id: sql<number>`1` }))
    written += inserted.length
  })
  if (!step.isPair) await raiseSequence(tx, getTableName(step.target))
  return written
}

async function encryptRow(tx: Tx, { values, secrets = [] }: MovedRow): Promise<Record<string, unknown>> {
  const encrypted = secrets.map(async ({ column, plain, location }) => [
    column,
    await encrypt(tx, plain, location),
  ])
  return { ...values, ...(Object.fromEntries(await Promise.all(encrypted)) as Record<string, string>) }
}

/** New rows get ids after those that moved. */
async function raiseSequence(tx: Tx, table: string): Promise<void> {
  const name = sql.identifier(table)
  await tx.db.execute(
    sql`select setval(pg_get_serial_sequence(${table}, 'id'), max(id)) from ${name} having max(id) > 0`,
  )
}

/** A row that differs from the old panel's, or is missing. */
export type Difference = { table: string; id: number; columns: string[] }

const maxDifferences = 100

/** Compares each row that can move with this panel's, secrets decrypted. Returns the first 100 that differ. */
export async function verifyMove(
  panel: Panel,
  options: MoveOptions,
): Promise<{ move: Move; differences: Difference[] }> {
  const move = await openMove(options)
  const differences: Difference[] = []
  for (const step of phasesOf(options.kind).flat()) {
    await eachBatch(step, move, async (rows) => {
      if (!step.isPair && differences.length < maxDifferences)
        differences.push(...(await compareRows(panel, step, rows)))
    })
  }
  return { move, differences: differences.slice(0, maxDifferences) }
}

async function compareRows(panel: Panel, step: Step, rows: MovedRow[]): Promise<Difference[]> {
  const id = (getTableColumns(step.target) as Record<string, PgColumn>).id as PgColumn
  const ids = rows.map(({ values }) => Number(values.id))
  const found = (await panel.db
    .select()
    .from(step.target as PgTable)
    .where(inArray(id, ids))) as Record<string, unknown>[]
  const byId = new Map(found.map((row) => [Number(row.id), row]))
  const table = getTableName(step.target)
  const compared = rows.map(async ({ values, secrets = [] }): Promise<Difference> => {
    const row = byId.get(Number(values.id))
    if (!row) return { table, id: Number(values.id), columns: ['(missing)'] }
    const columns = Object.keys(values).filter(
      (name) =>
        !['updatedAt', ...(step.changing ?? [])].includes(name) && stable(values[name]) !== stable(row[name]),
    )
    const plain = await Promise.all(
      secrets.map(async ({ column, plain: expected, location }) =>
        (await decrypt(panel, String(row[column]), location)) === expected ? [] : [column],
      ),
    )
    return { table, id: Number(values.id), columns: [...columns, ...plain.flat()] }
  })
  return (await Promise.all(compared)).filter(({ columns }) => columns.length > 0)
}

/** Writes a value as JSON with the keys of objects in order, which `jsonb` does not keep. */
const stable = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
