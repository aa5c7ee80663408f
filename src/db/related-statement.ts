import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias, type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core'
import type { Cells } from './cell-statements.ts'
import { rowDecoder } from './compiled-rows.ts'
import { type Branches, includeTree } from './include-tree.ts'
import { type ColumnChoice, columnsOf, type Kind, type Relation, tables } from './relations.ts'
import { textDecoder } from './text-cells.ts'

/** Related rows where they can grow without bound: of one parent, and of all parents in an answer. Spec: docs/limits.md#sizes. */
export const maxRelatedRows = { ofParent: 500, ofAnswer: 5000 }

/** The rows of one relation, or those of the page, in the result of a statement. */
export type Arm = {
  /** Its number among the arms is in the first cell of its rows. */
  number: number
  /** Null for the rows of the page. */
  relation: { name: string; relation: Relation; parent: Arm } | null
  /** Makes a row of the cells behind its number. */
  decode: (cells: Cells) => RelatedRow
}

/** A row with the rows of its relations under their names, and the names of relations that have more rows. */
export type RelatedRow = { [field: string]: unknown; truncated?: string[] }

type ArmWithSource = Arm & { kind: Kind; cte: string; columns: PgColumn[]; hasParentId: boolean }

/** A statement over a page of rows with their related rows: each related row is in the result once. */
export type RelatedStatement = {
  arms: Arm[]
  /** The SQL behind the common table expressions `counted` and `page`. */
  text: string
}

const dialect = new PgDialect({ casing: 'snake_case' })
const statements = new Map<string, RelatedStatement>()
/** There are as many as sets of relations. */
const maxStatements = 500

/** Returns the part of a statement that depends on nothing but the kind of the rows and the relations; it is built once. */
export function relatedStatement(kind: Kind, include: readonly string[]): RelatedStatement {
  const key = `${kind}:${include.toSorted().join()}`
  const known = statements.get(key)
  if (known) return known
  if (statements.size >= maxStatements) statements.clear()
  const built = buildStatement(kind, includeTree(kind, include))
  statements.set(key, built)
  return built
}

function buildStatement(kind: Kind, branches: Branches): RelatedStatement {
  const page = makeArm(0, kind, 'all', null)
  const arms = [page, ...armsOf(page, branches, { last: 0 })]
  const width = Math.max(2, ...arms.map(({ columns, hasParentId }) => columns.length + Number(hasParentId)))
  const related = arms.flatMap(({ relation, cte, columns }) =>
    relation
      ? [
          sql`, ${sql.raw(cte)} as materialized (${relatedRows(relation.relation, relation.parent as ArmWithSource, columns)})`,
        ]
      : [],
  )
  const counts = sql`select -1 as number, ${cells([sql`counted.total`, sql`counted.extra_count`], width)} from counted`
  const rows = arms.map((arm) => {
    const source = alias(tables[arm.kind] as PgTable, arm.cte)
    const values: SQL[] = arm.columns.map((column) => sql`${columnIn(source, column)}`)
    if (arm.hasParentId) values.push(sql`${sql.raw(arm.cte)}.parent_id`)
    return sql` union all select ${sql.raw(String(arm.number))}, ${cells(values, width)} from ${sql.raw(arm.cte)}`
  })
  return { arms, text: dialect.sqlToQuery(sql`${sql.join(related)} ${counts}${sql.join(rows)}`).sql }
}

function armsOf(parent: ArmWithSource, branches: Branches, serial: { last: number }): ArmWithSource[] {
  return [...branches].flatMap(([name, { relation, isShown, branches: nested }]) => {
    serial.last += 1
    const choice = isShown ? 'shown' : 'keys'
    const arm = makeArm(serial.last, relation.to, choice, { name, relation, parent })
    return [arm, ...armsOf(arm, nested, serial)]
  })
}

function makeArm(number: number, kind: Kind, choice: ColumnChoice, relation: Arm['relation']): ArmWithSource {
  const columns = columnsOf(kind, choice)
  const hasParentId = relation?.relation.isUnbounded === true
  const decoders = columns.map(([field, column]) => [field, textDecoder(column)] as const)
  return {
    number,
    kind,
    relation,
    cte: number === 0 ? 'page' : `related_${number}`,
    columns: columns.map(([, column]) => column),
    hasParentId,
    decode: rowDecoder(hasParentId ? [...decoders, ['parentId', Number]] : decoders, 1),
  }
}

/** Selects values as text, followed by nulls up to the width of all arms, which are rows of one result. */
const cells = (values: readonly SQL[], width: number): SQL =>
  sql.join(
    Array.from({ length: width }, (_, at) => sql`${values[at] ?? sql`null`}::text ${sql.raw(`as c${at}`)}`),
    sql`, `,
  )

/** Finds a column again in another alias of its table. */
function columnIn(source: PgTable, column: PgColumn): PgColumn {
  const found = Object.values(getTableColumns(source)).find((each) => each.name === column.name)
  if (!found) throw new Error(`The column ${column.name} is not in its table.`)
  return found as PgColumn
}

/** Selects the related rows of all rows of the parent, each once. */
function relatedRows(relation: Relation, parent: ArmWithSource, columns: PgColumn[]): SQL {
  const table = tables[relation.to] as PgTable
  const source = alias(tables[parent.kind] as PgTable, parent.cte)
  const key = fieldOf(source, relation.field)
  if (relation.isUnbounded) return firstRelatedRows(relation, { table, key, parent, columns })
  const isRelated = sql`${fieldOf(table, relation.relatedField)} in (select ${key} from ${sql.raw(parent.cte)})`
  const order = relation.isMany ? sql` order by ${fieldOf(table, 'id')}` : sql``
  return sql`select ${sql.join(columns, sql`, `)} from ${table} where ${isRelated}${inState(relation, table)}${order}`
}

/** Selects the first of them, and one more for each limit, which says that there are others. */
function firstRelatedRows(
  relation: Relation,
  {
    table,
    key,
    parent,
    columns,
  }: { table: PgTable; key: PgColumn; parent: ArmWithSource; columns: PgColumn[] },
): SQL {
  const { through, relatedField, nullsFirst } = relation
  const related = fieldOf(table, relatedField)
  const join = through ? sql` inner join ${through.table} on ${through.key} = ${related}` : sql``
  const limit = sql.raw(`limit ${maxRelatedRows.ofParent + 1}`)
  const first = (condition: SQL) =>
    sql`(select ${sql.join(columns, sql`, `)} from ${table}${join} where ${through?.field ?? related} = ${key}${inState(relation, table)}${condition} ${limit})`
  const rows = nullsFirst
    ? sql`(select * from (${first(sql` and ${fieldOf(table, nullsFirst)} is null`)} union all ${first(sql` and ${fieldOf(table, nullsFirst)} is not null`)}) both_of_them ${limit})`
    : first(sql``)
  return sql`select found.*, ${sql.raw(parent.cte)}.id as parent_id from ${sql.raw(parent.cte)}
    cross join lateral ${rows} found ${sql.raw(`limit ${maxRelatedRows.ofAnswer + 1}`)}`
}

const inState = ({ state }: Relation, table: PgTable): SQL =>
  state ? sql` and ${fieldOf(table, 'state')} = ${sql.raw(`'${state}'`)}` : sql``

function fieldOf(table: PgTable, field: string): PgColumn {
  const column = getTableColumns(table)[field]
  if (!column) throw new Error(`The table has no field ${field}.`)
  return column as PgColumn
}
