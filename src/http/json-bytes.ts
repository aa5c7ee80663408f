/** A plain value, or bytes of JSON, as `encodeJson` makes them. */
export type JsonValue = string | number | boolean | null | Uint8Array

/** Writes an answer as bytes. */
export type JsonBytes = {
  /**
   * Adds JSON with the JSON of each value in its place: ``json`{"name":${name}}` ``. Line breaks and the spaces behind
   * them are left out.
   */
  json: (texts: TemplateStringsArray, ...values: JsonValue[]) => void
  /** Adds the JSON of a value. */
  value: (value: JsonValue) => void
  /** Adds text that is JSON already. */
  text: (text: string) => void
  finish: () => Uint8Array<ArrayBuffer>
}

const encoder = new TextEncoder()

/** Encodes text of JSON that many answers have in common. */
export const encodeText = (text: string): Uint8Array => encoder.encode(text)

/** Encodes a value as JSON, which another answer can hold as it is. */
export const encodeJson = (value: unknown): Uint8Array => encodeText(JSON.stringify(value))

/** Encodes the fields of an object, without its braces, for a place between those of a template. */
export const encodeFields = (fields: object): Uint8Array => encodeText(JSON.stringify(fields).slice(1, -1))

/** Bytes that a unit of UTF-16 takes in UTF-8, at most. */
const maxUnitBytes = 3

/** Creates a writer with room for about so many bytes. A text of the whole answer would be copied three times to be sent. */
export function jsonBytes(expectedBytes: number): JsonBytes {
  let buffer = takeBuffer(expectedBytes)
  let length = 0
  const makeRoom = (bytes: number) => {
    const needed = length + bytes
    if (needed <= buffer.length) return
    const larger = takeBuffer(2 * needed)
    larger.set(buffer.subarray(0, length))
    releaseBytes(buffer)
    buffer = larger
  }
  const encoded = (bytes: Uint8Array) => {
    makeRoom(bytes.length)
    buffer.set(bytes, length)
    length += bytes.length
  }
  const text = (added: string) => {
    makeRoom(added.length * maxUnitBytes)
    length += encoder.encodeInto(added, buffer.subarray(length)).written
  }
  const value = (added: JsonValue) => {
    if (typeof added === 'string' || typeof added === 'number') {
      makeRoom(maxShortBytes)
      const end =
        typeof added === 'string' ? writeShort(added, buffer, length) : writeInteger(added, buffer, length)
      if (end === null) text(JSON.stringify(added))
      else length = end
    } else if (typeof added === 'boolean') encoded(added ? trueBytes : falseBytes)
    else encoded(added ?? nullBytes)
  }
  return {
    json: (texts, ...values) => {
      const parts = encodedParts(texts)
      encoded(parts[0] as Uint8Array)
      for (let at = 0; at < values.length; at += 1) {
        value(values[at] as JsonValue)
        encoded(parts[at + 1] as Uint8Array)
      }
    },
    value,
    text,
    finish: () => buffer.subarray(0, length),
  }
}

const nullBytes = encodeText('null')
const trueBytes = encodeText('true')
const falseBytes = encodeText('false')

/** The texts of a template, which are the same array each time. */
const encodedTemplates = new WeakMap<TemplateStringsArray, Uint8Array[]>()

function encodedParts(texts: TemplateStringsArray): Uint8Array[] {
  const known = encodedTemplates.get(texts)
  if (known) return known
  const parts = texts.map((text) => encodeText(text.replaceAll(/\n */g, '')))
  encodedTemplates.set(texts, parts)
  return parts
}

/** Writes a string that is short and needs no escape, for which the encoder takes longer, and returns where it ends; null for others. */
function writeShort(value: string, buffer: Uint8Array, start: number): number | null {
  if (value.length > maxShortLength) return null
  let end = start
  buffer[end] = quote
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at)
    if (code < 32 || code > 126 || code === quote || code === backslash) return null
    end += 1
    buffer[end] = code
  }
  buffer[end + 1] = quote
  return end + 2
}
const maxShortLength = 128
/** Bytes of such a string or of a whole number. */
const maxShortBytes = maxShortLength + 2
const [quote, backslash, zero] = [34, 92, 48]

/** Writes a whole number that is not negative, and returns where it ends; null for others. */
function writeInteger(value: number, buffer: Uint8Array, start: number): number | null {
  if (!(value >= 0 && value <= maxInteger) || value !== Math.trunc(value)) return null
  let end = start + 1
  for (let power = 10; power <= value; power *= 10) end += 1
  let rest = value
  for (let at = end - 1; at >= start; at -= 1) {
    const digit = rest % 10
    buffer[at] = zero + digit
    rest = (rest - digit) / 10
  }
  return end
}
const maxInteger = 2_147_483_647

/** Buffers whose answers are sent. New ones for each would make V8 collect all garbage every fifty lists. */
const freeBuffers: ArrayBuffer[] = []
/** Buffers of answers that are not sent yet. */
const lentBuffers = new WeakSet<ArrayBuffer>()
const maxFreeBuffers = 16
/** Sizes of buffers that are used again. */
const reusedBytes = { min: 65_536, max: 1_048_576 }

function takeBuffer(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes < reusedBytes.min || bytes > reusedBytes.max) return new Uint8Array(bytes)
  const at = freeBuffers.findLastIndex(({ byteLength }) => byteLength >= bytes)
  const [free = new ArrayBuffer(bytes)] = at === -1 ? [] : freeBuffers.splice(at, 1)
  lentBuffers.add(free)
  return new Uint8Array(free)
}

/** Lets another answer have the bytes of `finish` once they are sent; others stay as they are. */
export function releaseBytes({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (lentBuffers.delete(buffer) && freeBuffers.length < maxFreeBuffers) freeBuffers.push(buffer)
}
