import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encryptedColumns } from '../../src/domain/operations/rotate-keys.ts'

const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))

describe('columns that key rotation encrypts again', () => {
  it('are those that code encrypts', () => {
    const places = sources.flatMap((text) =>
      Array.from(
        text.matchAll(/\btable: '(\w+)',\s+column: '(\w+)'/g),
        ([, table, column]) => `${table}.${column}`,
      ),
    )
    expect(new Set(places)).toEqual(new Set(encryptedColumns))
  })

  it('are all columns that tables declare as encrypted', () => {
    const named = globSync('src/db/tables/*.ts').flatMap((file) =>
      Array.from(
        readFileSync(file, 'utf8').matchAll(/\/\*\* Encrypted[^/]*\*\/\s+(\w+):/g),
        ([, column = '']) =>
          `${file.replace(/^.*\/|\.ts$/g, '').replaceAll('-', '_')}.${column.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      ),
    )
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !(encryptedColumns as string[]).includes(name))).toEqual([])
  })
})
