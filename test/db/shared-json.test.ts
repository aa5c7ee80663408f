import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { jsonColumn } from '../../src/db/json.ts'
import { sharedRow, type SharedRows } from '../../src/db/shared-json.ts'

type Egg = { id: number; rest: unknown[] }

/** Returns what decodes a row that requests share, and how often it was decoded. */
function reader() {
  let decoded = 0
  const rows: SharedRows<Egg> = new Map()
  const column = sharedRow(
    jsonColumn(sql`null`, (value): Egg => {
      decoded += 1
      const [id, ...rest] = value as [number, ...unknown[]]
      return { id, rest }
    }),
    rows,
  )
  const { decoder } = column as unknown as { decoder: { mapFromDriverValue: (value: unknown) => Egg } }
  return { read: (value: unknown) => decoder.mapFromDriverValue(value), count: () => decoded, rows }
}

const egg = (values: unknown) => [1, 'Paper', values]

describe('a row that requests share', () => {
  it('is decoded once while the database says the same, as JSON or as text', () => {
    const { read, count } = reader()
    const first = read(egg({ a: [1, null, { b: true }] }))
    expect(first).toEqual({ id: 1, rest: ['Paper', { a: [1, null, { b: true }] }] })
    expect(read(egg({ a: [1, null, { b: true }] }))).toBe(first)
    expect(read(JSON.stringify(egg({ a: [1, null, { b: true }] })))).toBe(first)
    expect(count()).toBe(1)
  })

  it.each([
    [{ a: 2 }],
    [{ a: [1, null, { b: false }] }],
    [{ a: [1, null, { b: true }, 2] }],
    [{ a: [1, null, { c: true }] }],
    [{ a: [1, null, { b: true }], d: 1 }],
    [{ a: [1, {}, { b: true }] }],
    [{ a: { 0: 1, 1: null, 2: { b: true } } }],
    [[1]],
    [null],
    ['text'],
  ])('is decoded again once it is %j', (changed) => {
    const { read } = reader()
    read(egg({ a: [1, null, { b: true }] }))
    expect(read(egg(changed))).toEqual({ id: 1, rest: ['Paper', changed] })
  })

  it('keeps rows apart, and no more than some hundreds', () => {
    const { read, rows } = reader()
    for (let id = 0; id < 1000; id += 1) expect(read([id, 'Egg']).id).toBe(id)
    expect(rows.size).toBeLessThanOrEqual(200)
  })
})
