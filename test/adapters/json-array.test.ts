import { describe, expect, it } from 'vitest'
import { splitJsonArray } from '../../src/adapters/json-array.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string, size: number): Promise<unknown[]> {
  const elements: unknown[] = []
  for await (const batch of splitJsonArray(inChunks(bytesOf(text), size))) elements.push(...batch)
  return elements
}

describe('a JSON array that arrives in chunks', () => {
  const arrays = [
    [],
    [1],
    [null, true, -1.5e3, 'a', '', [], {}],
    [{ name: 'a,b]}[{', deep: [[{ x: ['"', '\\', '\\"', '\\\\"', '🦆 ü'] }]] }, [[], [1, [2]]], 'end'],
  ]

  it.each(arrays.map((array) => [JSON.stringify(array), array]))(
    '%s has the same elements, wherever it is cut',
    async (text, array) => {
      for (const form of [text, ` \n${JSON.stringify(array, null, 2)}\r\n `]) {
        for (let size = 1; size <= form.length + 4; size += 1) expect(await read(form, size)).toEqual(array)
      }
    },
  )

  it.each([
    '',
    ' ',
    'null',
    '{}',
    '"[]"',
    '[',
    '[1',
    '[1,',
    '[1 2]',
    '[{]',
    '[}',
    '[1]]',
    '[1]x',
    '["\\"]',
    '<p>',
  ])('%j is no array', async (text) => {
    for (const size of [1, 2, 100]) await expect(read(text, size)).rejects.toThrow(SyntaxError)
  })

  it('is read no further than its reader wants', async () => {
    let chunks = 0
    const endless = (async function* () {
      yield bytesOf('[0')
      for (;;) {
        chunks += 1
        yield bytesOf(',1')
      }
    })()
    let batches = 0
    for await (const _ of splitJsonArray(endless)) {
      batches += 1
      if (batches === 3) break
    }
    expect(chunks).toBe(3)
  })
})
