import { describe, expect, it } from 'vitest'
import {
  encodeJson,
  type JsonBytes,
  jsonBytes,
  type JsonValue,
  releaseBytes,
} from '../../src/http/json-bytes.ts'
import { oddStrings } from './odd-strings.ts'

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** With the lengths around which strings are written otherwise. */
const strings = [
  ...oddStrings,
  ...[127, 128, 129].flatMap((length) => ['x', 'é', '"'].map((character) => character.repeat(length))),
]
const numbers = [0, -0, 1, 9, 10, 99, 100, 25_565, 2 ** 31 - 1, 2 ** 31, 2 ** 53, -1, 0.5, 1e21, 1e-7]

function written(expectedBytes: number, texts: string[]): Uint8Array<ArrayBuffer> {
  const bytes = jsonBytes(expectedBytes)
  for (const text of texts) bytes.text(text)
  return bytes.finish()
}

function writeBy(write: (bytes: JsonBytes) => void): string {
  const bytes = jsonBytes(1)
  write(bytes)
  return textOf(bytes.finish())
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

  it('writes values as JSON.stringify does', () => {
    const values = [...strings, ...numbers, Number.NaN, Number.POSITIVE_INFINITY, true, false, null]
    for (const value of values) expect(writeBy((bytes) => bytes.value(value))).toBe(JSON.stringify(value))
    for (let code = 0; code <= 0xff_ff; code += 1) {
      const text = `a${String.fromCharCode(code)}b`
      if (writeBy((bytes) => bytes.value(text)) !== JSON.stringify(text))
        expect.fail(`U+${code.toString(16)}`)
    }
  })

  it('writes a template with the JSON of its values, without the line breaks of the template', () => {
    const write = (a: JsonValue, b: JsonValue) =>
      writeBy(({ json }) => {
        json`{
          "a":${a},"key  of two":${b},
          "list":[${a},${encodeJson([b, 'ü'])}]
        }`
        json`,`
      })
    for (const a of strings)
      for (const b of [...strings, ...numbers, null, true])
        expect(write(a, b)).toBe(`${JSON.stringify({ a, 'key  of two': b, list: [a, [b, 'ü']] })},`)
  })

  it('puts encoded values between texts, short and long, of ASCII or not', () => {
    const texts = ['a', 'ü', '€', '€'.repeat(39), 'x'.repeat(2000)]
    const bytes = jsonBytes(10)
    for (const first of texts) {
      bytes.text(JSON.stringify(first))
      for (const each of texts) bytes.value(encodeJson(each))
    }
    const expected = texts.flatMap((first) => [first, ...texts]).map((text) => JSON.stringify(text))
    expect(textOf(bytes.finish())).toBe(expected.join(''))
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
