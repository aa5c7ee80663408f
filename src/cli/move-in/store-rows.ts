import { type ActivityScope, isInScope } from './activity-scope.ts'
import { isKnownColumn } from './source-columns.ts'
import type { SourceKind } from './source-schema.ts'
import type { SourceRow, Spool } from './spool.ts'
import { utcOf } from './source-zone.ts'

/** A column of a source: its type as the source names it, and the text of its default, or null. */
export type SourceColumn = { name: string; type: string; preset: string | null }

/** A value as a driver or a dump gives it. */
export type SourceValue = string | number | bigint | boolean | Uint8Array | null | undefined

/** How the rows of a source are read. */
export type Storing = {
  kind: SourceKind
  /** The tables whose rows are read. */
  tables: readonly string[]
  /** IANA name or offset of the zone that dates without one are in. */
  zone: string
  /** Which activity is read. */
  activity: ActivityScope
}

const numberType = /^(?:(?:tiny|small|medium|big)?int|integer|int\d|bool|boolean|bit|float|double|real|year)/
/** `char(n)` of PostgreSQL, which pads with spaces; MySQL takes them off. */
const paddedType = /^character(?!\s+varying)/
const instantType = /^timestamp/

/**
 * Returns what turns the values of a row into the row that moves: numbers, texts and UTC. Columns that nothing is known
 * about are left out, and those that hold anything but null or their default are counted in the spool.
 */
export function rowReader(
  spool: Spool,
  { kind, zone }: Pick<Storing, 'kind' | 'zone'>,
  table: string,
  columns: readonly SourceColumn[],
): (values: readonly SourceValue[]) => SourceRow {
  const read = columns.map(({ name, type, preset }) => ({
    name,
    convert: converterOf(type.toLowerCase(), zone),
    ...(!isKnownColumn(kind, table, name) && { unknown: { preset: presetOf(preset) } }),
  }))
  return (values) => {
    const row: SourceRow = {}
    for (const [at, { name, convert, unknown }] of read.entries()) {
      const value = values[at]
      const converted = value === null || value === undefined ? null : convert(value)
      if (!unknown) row[name] = converted
      else if (converted !== null && String(converted) !== unknown.preset)
        countUnknown(spool, `${table}.${name}`)
    }
    return row
  }
}

function countUnknown({ unknownValues }: Spool, column: string): void {
  unknownValues.set(column, (unknownValues.get(column) ?? 0) + 1)
}

function converterOf(type: string, zone: string): (value: NonNullable<SourceValue>) => string | number {
  if (numberType.test(type)) return toNumber
  if (instantType.test(type)) return (value) => utcOf(toText(value), zone)
  return paddedType.test(type) ? (value) => toText(value).trimEnd() : toText
}

function toNumber(value: NonNullable<SourceValue>): string | number {
  if (typeof value === 'number') return value
  const text = toText(value)
  if (/^[tf]/i.test(text)) return Number(/^t/i.test(text))
  const number = Number(text)
  return Number.isSafeInteger(number) || text.includes('.') ? number : text
}

function toText(value: NonNullable<SourceValue>): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  return typeof value === 'boolean' ? String(Number(value)) : String(value)
}

/** The plain value of a default: `'x'`, `'x'::text`, `b'0'` and `x` alike; null where it has none. */
function presetOf(preset: string | null): string | null {
  if (preset === null || /^null\b/i.test(preset)) return null
  const [, text] = /^b?'((?:[^']|'')*)'/.exec(preset) ?? []
  const plain = (text ?? preset).replaceAll("''", "'")
  return /^(?:true|false)$/.test(plain) ? String(Number(plain === 'true')) : plain
}

/** Copies the rows of a table into the spool. */
export async function readInto(
  spool: Spool,
  storing: Storing,
  table: string,
  columns: readonly SourceColumn[],
  rows: AsyncIterable<readonly SourceValue[]> | Iterable<readonly SourceValue[]>,
): Promise<void> {
  const toRow = rowReader(spool, storing, table, columns)
  await spool.add(
    table,
    (async function* () {
      for await (const values of rows) {
        const row = toRow(values)
        if (isInScope(storing.activity, table, row)) yield row
      }
    })(),
  )
}
