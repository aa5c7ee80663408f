import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { jsonColumn } from '../../src/db/json.ts'
import { locations } from '../../src/db/schema.ts'

const extras = {
  names: jsonColumn(sql`'[]'::json`, (value) => (value as string[]).map((name) => `${name}!`)),
}
const cells = [3, 'ams', 'Amsterdam', ['a', 'b']]

/** Decodes cells in a process that compiles code, or in one that does so only while it starts, as Workers. */
async function decodeRow(canCompile: boolean, values: unknown[]) {
  vi.resetModules()
  const { rowOf } = await import('../../src/db/embed.ts')
  if (!canCompile) vi.stubGlobal('Function', RefusingFunction)
  return rowOf(locations, extras, ['id', 'short', 'long']).decode(values)
}

class RefusingFunction {
  constructor() {
    throw new EvalError('Code generation from strings disallowed for this context')
  }
}

describe('the row of an array', () => {
  afterEach(() => vi.unstubAllGlobals())

  it.each([true, false])('has its columns by their names (compiled: %s)', async (canCompile) => {
    const row = await decodeRow(canCompile, cells)
    expect(row).toEqual({ id: 3, short: 'ams', long: 'Amsterdam', names: ['a!', 'b!'] })
    expect(Object.keys(row as object)).toEqual(['id', 'short', 'long', 'names'])
  })

  it.each([true, false])('keeps null without decoding it (compiled: %s)', async (canCompile) => {
    expect(await decodeRow(canCompile, [3, 'ams', null, null])).toMatchObject({ long: null, names: null })
  })

  it.each([true, false])('begins at the cell that it is told (compiled: %s)', async (canCompile) => {
    vi.resetModules()
    const { rowDecoder } = await import('../../src/db/compiled-rows.ts')
    if (!canCompile) vi.stubGlobal('Function', RefusingFunction)
    const decode = rowDecoder(
      [
        ['id', Number],
        ['name', null],
        ['nodeId', Number],
      ],
      1,
    )
    expect(decode(['2', '7', 'Lobby', null])).toEqual({ id: 7, name: 'Lobby', nodeId: null })
  })
})
