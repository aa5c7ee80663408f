import { describe, expect, it } from 'vitest'
import { encodeText, jsonBytes, releaseBytes } from '../../src/http/json-bytes.ts'

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function written(expectedBytes: number, texts: string[]): Uint8Array<ArrayBuffer> {
  const bytes = jsonBytes(expectedBytes)
  for (const text of texts) bytes.text(text)
  return bytes.finish()
}

describe('jsonBytes', () => {
  it('writes what its texts are, in UTF-8, however much was expected', () => {
    const texts = [
      '"a"',
      '"ü€😀"',
      JSON.stringify('x'.repeat(5000)),
      JSON.stringify('€'.repeat(50_000)),
      '"z"',
    ]
    for (const expectedBytes of [1, 5000, 100_000, 2_000_000])
      expect(textOf(written(expectedBytes, texts))).toBe(texts.join(''))
    expect(textOf(written(10, []))).toBe('')
  })

  it('puts encoded texts between others, short and long, of ASCII or not', () => {
    const texts = ['"a"', '"ü"', '"€"', `"${'€'.repeat(39)}"`, `"${'x'.repeat(2000)}"`]
    const bytes = jsonBytes(10)
    for (const first of texts) {
      bytes.text(first)
      for (const each of texts) bytes.encoded(encodeText(each))
    }
    const expected = texts.map((first) => first + texts.join('')).join('')
    expect(textOf(bytes.finish())).toBe(expected)
  })

  it('uses the bytes of a large answer again once they are released, for one other answer', () => {
    const first = written(300_000, ['"first"'])
    releaseBytes(first)
    releaseBytes(first)
    const second = written(200_000, ['"second"'])
    const third = written(200_000, ['"third"'])
    expect(second.buffer).toBe(first.buffer)
    expect(third.buffer).not.toBe(first.buffer)
    expect([second, third].map(textOf)).toEqual(['"second"', '"third"'])
  })

  it('leaves bytes alone that it did not make', () => {
    const own = new TextEncoder().encode(`"${'own'.repeat(100_000)}"`)
    releaseBytes(own)
    expect(written(300_000, ['"other"']).buffer).not.toBe(own.buffer)
  })
})
