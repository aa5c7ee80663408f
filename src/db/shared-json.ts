import { type DriverValueDecoder, type SQL, sql } from 'drizzle-orm'
import { decodeJson } from './json.ts'

/** Decoded values that many rows share, each with the text that it was decoded from. */
export type SharedValues<Value> = {
  /** Returns the value of a text: the one of the last time while the text is the same, which callers must not change. */
  read: (text: string, decode: (text: string) => Value) => Value
}

/** Characters of the texts that are kept. The values take a few times as much. */
const maxCharacters = 1_000_000
/** Characters by which a text is found again: rows begin with their id. */
const keyLength = 12

/** Creates a memory of values. It is asked with what the database says now, so that it is never out of date. */
export function sharedValues<Value>(): SharedValues<Value> {
  const kept = new Map<string, { text: string; value: Value }>()
  let characters = 0
  return {
    read: (text, decode) => {
      const key = text.slice(0, keyLength)
      const known = kept.get(key)
      if (known?.text === text) return known.value
      const value = decode(text)
      characters += text.length - (known?.text.length ?? 0)
      if (characters > maxCharacters) {
        kept.clear()
        characters = text.length
      }
      if (text.length <= maxCharacters) kept.set(key, { text, value })
      return value
    },
  }
}

/** ASCII's record separator, which JSON has nowhere unescaped. */
const separator = '\u001E'

/**
 * Selects a JSON value of a row and one that many rows share, as two texts in one column: the shared one is parsed and
 * decoded when it has changed. It is null where there is none.
 */
export function besideShared<Own, Shared>(
  own: SQL<Own>,
  shared: SQL<Shared>,
  values: SharedValues<Shared>,
): SQL<{ own: Own; shared: Shared | null }> {
  const [decodeOwn, decodeShared] = [decoderOf(own), decoderOf(shared)]
  return sql`concat(${own}, chr(30), ${shared})`.mapWith((cell: string) => {
    const at = cell.indexOf(separator)
    const text = cell.slice(at + 1)
    return {
      own: decodeOwn(cell.slice(0, at)),
      shared: text === '' ? null : values.read(text, decodeShared),
    }
  })
}

function decoderOf<Value>(expression: SQL<Value>): (text: string) => Value {
  const { decoder } = expression as unknown as { decoder: DriverValueDecoder<Value, string> }
  return (text) => decoder.mapFromDriverValue(text)
}

/** Embedded rows that requests share, by their first cell, which is their id. */
export type SharedRows<Value> = Map<unknown, { cells: unknown; value: Value }>
const maxSharedRows = 200

/**
 * Selects an embedded row that many requests read: its value is the one of the last time while its cells are the same,
 * so that what is made of it once can be kept. Callers must not change it.
 */
export function sharedRow<Value>(embedded: SQL<Value>, rows: SharedRows<Value>): SQL<Value> {
  const { decoder } = embedded as unknown as { decoder: DriverValueDecoder<Value, unknown> }
  return sql<Value>`${embedded}`.mapWith((found: unknown) => {
    const cells = decodeJson(found)
    const id = (cells as unknown[])[0]
    const known = rows.get(id)
    if (known && isSameJson(known.cells, cells)) return known.value
    const value = decoder.mapFromDriverValue(cells)
    if (rows.size >= maxSharedRows) rows.clear()
    rows.set(id, { cells, value: value as Value })
    return value as Value
  })
}

function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one)) return Array.isArray(other) && isSameList(one, other)
  const names = Object.keys(one)
  return (
    !Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name as never], other[name as never]))
  )
}

function isSameList(one: unknown[], other: unknown[]): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at += 1) if (!isSameJson(one[at], other[at])) return false
  return true
}
