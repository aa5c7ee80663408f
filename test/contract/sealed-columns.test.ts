import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sealedColumns } from '../../src/domain/reseal.ts'

const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))

describe('columns that are sealed again after a change of keys', () => {
  it('are those for which some code seals', () => {
    const places = sources.flatMap((text) =>
      Array.from(
        text.matchAll(/\btable: '(\w+)',\s+column: '(\w+)'/g),
        ([, table, column]) => `${table}.${column}`,
      ),
    )
    expect(new Set(places)).toEqual(new Set(sealedColumns))
  })

  it('are all that tables call sealed', () => {
    const named = globSync('src/db/tables/*.ts').flatMap((file) =>
      Array.from(
        readFileSync(file, 'utf8').matchAll(/\/\*\* Sealed[^/]*\*\/\s+(\w+):/g),
        ([, column = '']) =>
          `${file.replace(/^.*\/|\.ts$/g, '').replaceAll('-', '_')}.${column.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      ),
    )
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !(sealedColumns as string[]).includes(name))).toEqual([])
  })
})
