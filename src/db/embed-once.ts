import { type Column, type DriverValueDecoder, type SQL, sql } from 'drizzle-orm'

/**
 * An embedded row that several rows share (they have the same `key`), sent with the first of them by
 * `order` and null with the others: a page of many servers carries each of their few eggs once.
 */
export function embedOnce<Value>(embedded: SQL<Value>, key: Column, order: Column): SQL<Value | null> {
  const { decoder } = embedded as unknown as { decoder: DriverValueDecoder<Value | null, unknown> }
  return sql<Value | null>`case when row_number() over (partition by ${key} order by ${order}) = 1 then ${embedded} end`.mapWith(
    decoder,
  )
}
