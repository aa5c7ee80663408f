import { describe, expect, it } from 'vitest'
import { jsonBytes } from '../../src/http/json-bytes.ts'
import { placeOf, sharedParts, writeParts } from '../../src/http/json-parts.ts'
import { oddStrings } from './odd-strings.ts'

function write(document: unknown, valueOf: (key: string) => string | null): string {
  const bytes = jsonBytes(100)
  writeParts(bytes, sharedParts(() => document)({}, []), valueOf)
  return new TextDecoder().decode(bytes.finish())
}

describe('JSON in parts', () => {
  it('is the document with the values of a row in its places, whatever texts it has', () => {
    for (const text of oddStrings) {
      const document = { a: text, b: [placeOf(text), { c: placeOf('null') }], [text]: 'x'.repeat(400) }
      const valueOf = (key: string) => (key === 'null' ? null : `${key}!`)
      const expected = { a: text, b: [`${text}!`, { c: null }], [text]: 'x'.repeat(400) }
      expect(write(document, valueOf)).toBe(JSON.stringify(expected))
    }
  })

  it('is built once for an owner and the names of what rows have', () => {
    let built = 0
    const parts = sharedParts((owner: { id: number }, names) => {
      built += 1
      return { ...owner, names }
    })
    const owner = { id: 1 }
    expect(parts(owner, ['A', 'B'])).toBe(parts(owner, ['A', 'B']))
    expect(built).toBe(1)
    for (const names of [[], ['A'], ['A,B'], ['B', 'A']])
      expect(parts(owner, names)).not.toBe(parts(owner, ['A', 'B']))
    expect(parts({ id: 1 }, ['A', 'B'])).not.toBe(parts(owner, ['A', 'B']))
  })

  it('builds anew what it forgot, after many sets of names', () => {
    const parts = sharedParts((_: object, names) => names)
    const owner = {}
    const first = parts(owner, ['A'])
    for (let n = 0; n < 60; n += 1) parts(owner, [`N${n}`])
    expect(parts(owner, ['A'])).toEqual(first)
  })
})
