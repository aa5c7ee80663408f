import type { PgColumn } from 'drizzle-orm/pg-core'

type Decode = (cell: string) => unknown

/**
 * Returns the function that turns the text of a value, as PostgreSQL writes it, into what drizzle returns for its column;
 * null where that is the text.
 */
export function textDecoder(column: PgColumn): Decode | null {
  switch (column.columnType) {
    case 'PgInteger':
    case 'PgBigInt53':
    case 'PgBigSerial53':
      return Number
    case 'PgBoolean':
      return (cell) => cell === 'true'
    case 'PgTimestamp':
      return parseInstant
    case 'PgJson':
    case 'PgJsonb':
      return (cell) => JSON.parse(cell) as unknown
    case 'PgText':
    case 'PgUUID':
      return null
    default:
      return (cell) => column.mapFromDriverValue(cell)
  }
}

const utcInstant = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/

/** Parses what PostgreSQL writes in UTC itself: the parser of JavaScript takes ten times as long for this format. */
function parseInstant(cell: string): Date {
  if (!utcInstant.test(cell)) return new Date(cell)
  const time = (digits(cell, 11, 2) * 60 + digits(cell, 14, 2)) * 60 + digits(cell, 17, 2)
  // The digits of milliseconds that are missing at the end are zeros.
  const milliseconds = cell[19] === '.' ? digits(cell, 20, 3) : 0
  return new Date(
    Date.UTC(digits(cell, 0, 4), digits(cell, 5, 2) - 1, digits(cell, 8, 2)) + time * 1000 + milliseconds,
  )
}

/** Reads a number of so many digits; other characters count as zeros. */
function digits(text: string, from: number, count: number): number {
  let number = 0
  for (let at = from; at < from + count; at += 1) {
    const digit = text.charCodeAt(at) - 48
    number = number * 10 + (digit >= 0 && digit <= 9 ? digit : 0)
  }
  return number
}
