/** A value of an `INSERT`: a number that is exact in JavaScript, a text, or null. */
export type DumpValue = string | number | null

/** How the texts of a dump are written. */
export type TextRules = {
  /** Whether a backslash escapes, which `NO_BACKSLASH_ESCAPES` in `sql_mode` ends. */
  backslash: boolean
  /** Decodes bytes that are not ASCII alone. Throws for bytes that are not of the dump's character set. */
  decode: (bytes: Uint8Array) => string
}

/** The values of one row and where it ends; `null` where its end is not in the bytes yet. */
export type Tuple = { values: DumpValue[]; end: number } | null

/** Bytes that are not a row of an `INSERT`; `at` is where. */
export class TupleError extends Error {
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.name = 'TupleError'
    this.at = at
  }
}

const [quote, doubleQuote, backslash, open, close, comma] = [0x27, 0x22, 0x5c, 0x28, 0x29, 0x2c]
const [percent, underscore, zero, nine] = [0x25, 0x5f, 0x30, 0x39]
/** Digits that every number of JavaScript holds exactly. */
const maxShortDigits = 15
const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Returns the place of the next byte that is no space; the end of the bytes where there is none. */
export function skipSpaces(bytes: Buffer, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at += 1
  return at
}

/**
 * Reads `(value, …)` from a place on. With `only` the texts at other places are null, unread.
 * Throws a `TupleError` for anything else.
 */
export function readTuple(bytes: Buffer, from: number, rules: TextRules, only?: number): Tuple {
  let at = skipSpaces(bytes, from)
  if (at >= bytes.length) return null
  if (bytes[at] !== open) throw new TupleError('expected a row in parentheses', at)
  const values: DumpValue[] = []
  do {
    const start = skipSpaces(bytes, at + 1)
    const isSkipped = only !== undefined && values.length !== only && bytes[start] === quote
    const value = isSkipped ? skipText(bytes, start, rules) : readValue(bytes, start, rules)
    if (value === null) return null
    values.push(value.value)
    at = skipSpaces(bytes, value.end)
    if (at >= bytes.length) return null
  } while (bytes[at] === comma)
  if (bytes[at] !== close) throw new TupleError('expected a comma or the end of the row', at)
  return { values, end: at + 1 }
}

type Read = { value: DumpValue; end: number } | null

function readValue(bytes: Buffer, from: number, rules: TextRules): Read {
  const first = bytes[from]
  if (first === quote || first === doubleQuote) return readText(bytes, from, rules)
  const common = readShortNumber(bytes, from) ?? readNull(bytes, from)
  if (common !== null) return common
  let end = from
  while (end < bytes.length && !endsWord(bytes[end]!)) end += 1
  if (end >= bytes.length) return null
  const word = bytes.toString('latin1', from, end)
  const isQuoted = bytes[end] === quote
  if (isQuoted && /^(?:_\w+|n)$/i.test(word)) return readText(bytes, end, rules)
  if (isQuoted && /^[xb]$/i.test(word)) return readDigits(bytes, from, end, rules)
  // An introducer may stand apart: `_binary 'text'`, `_utf8mb4 0x41`.
  if (/^_\w+$/.test(word)) return readValue(bytes, skipSpaces(bytes, end), rules)
  return { value: wordValue(word, from, rules), end }
}

/** Most values of large tables: digits that a number can hold, without a text in between. */
function readShortNumber(bytes: Buffer, from: number): Read {
  let [at, number] = [from, 0]
  for (; at < from + maxShortDigits; at += 1) {
    const byte = bytes[at]
    if (byte === undefined || byte < zero || byte > nine) break
    number = number * 10 + byte - zero
  }
  const isNumber = at > from && (bytes[at] === comma || bytes[at] === close)
  return isNumber ? { value: number, end: at } : null
}

/** Reads NULL as dumps write it. */
function readNull(bytes: Buffer, from: number): Read {
  const isNull =
    bytes[from] === 0x4e && bytes[from + 1] === 0x55 && bytes[from + 2] === 0x4c && bytes[from + 3] === 0x4c
  const next = bytes[from + 4]
  return isNull && (next === comma || next === close) ? { value: null, end: from + 4 } : null
}

/** Finds the end of a text without reading it. */
function skipText(bytes: Buffer, from: number, { backslash: hasBackslash }: TextRules): Read {
  let at = from + 1
  for (;;) {
    const mark = bytes.indexOf(quote, at)
    // Whether this quote is a doubled one shows in the next byte.
    if (mark === -1 || mark + 1 >= bytes.length) return null
    let slashes = 0
    while (hasBackslash && mark - slashes > at && bytes[mark - slashes - 1] === backslash) slashes += 1
    if (slashes % 2 === 1) at = mark + 1
    else if (bytes[mark + 1] === quote) at = mark + 2
    else return { value: null, end: mark + 1 }
  }
}

const endsWord = (byte: number) => byte === comma || byte === close || byte === quote || isSpace(byte)

function wordValue(word: string, at: number, rules: TextRules): DumpValue {
  if (/^[-+]?\d/.test(word) && !/^0x/i.test(word)) return readNumber(word, at)
  if (/^null$/i.test(word)) return null
  if (/^(?:true|false)$/i.test(word)) return Number(/^true$/i.test(word))
  const [, hex] = /^0x((?:[\da-f]{2})*)$/i.exec(word) ?? []
  if (hex !== undefined) return decodeAt(Buffer.from(hex, 'hex'), rules, at)
  throw new TupleError(`"${word.slice(0, 40)}" is not a value`, at)
}

/** Numbers that JavaScript cannot hold exactly stay texts. */
function readNumber(word: string, at: number): number | string {
  const number = Number(word)
  if (Number.isNaN(number)) throw new TupleError(`"${word.slice(0, 40)}" is not a number`, at)
  return Number.isSafeInteger(number) || /[.e]/i.test(word) ? number : word
}

/** Reads `x'4142'` and `b'01'`. */
function readDigits(bytes: Buffer, from: number, at: number, rules: TextRules): Read {
  const end = bytes.indexOf(quote, at + 1)
  if (end === -1) return null
  const digits = bytes.toString('latin1', at + 1, end)
  if (bytes.toString('latin1', from, at).toLowerCase() === 'b')
    return { value: Number.parseInt(digits || '0', 2), end: end + 1 }
  return { value: decodeAt(Buffer.from(digits, 'hex'), rules, at), end: end + 1 }
}

/** Reads a text with escapes by backslash and by doubled quotes. */
function readText(bytes: Buffer, from: number, rules: TextRules): Read {
  const mark = bytes[from]!
  let at = from + 1
  let high = 0
  let hasEscapes = false
  for (; ; at += 1) {
    const byte = bytes[at]
    if (byte === undefined) return null
    high |= byte
    if (byte === backslash && rules.backslash) {
      hasEscapes = true
      at += 1
      high |= bytes[at] ?? 0
    } else if (byte === mark) {
      // Whether this quote is a doubled one shows in the next byte.
      if (at + 1 >= bytes.length) return null
      if (bytes[at + 1] !== mark) break
      hasEscapes = true
      at += 1
    }
  }
  const text = bytes.subarray(from + 1, at)
  const plain = hasEscapes ? unescape(text, mark, rules.backslash) : text
  return {
    value: high < 0x80 ? plain.toString('latin1', 0, plain.length) : decodeAt(plain, rules, from),
    end: at + 1,
  }
}

/** Bytes that letters stand for after a backslash; any other byte stands for itself. */
const escapes = new Map(
  (
    [
      ['0', 0],
      ['b', 8],
      ['n', 10],
      ['r', 13],
      ['t', 9],
      ['Z', 26],
    ] as const
  ).map(([letter, byte]) => [letter.charCodeAt(0), byte as number]),
)

function unescape(text: Buffer, mark: number, hasBackslash: boolean): Buffer {
  const plain = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    let byte = text[at]!
    const next = text[at + 1]
    // Of a pattern: both bytes stay.
    const isPattern = next === percent || next === underscore
    if (byte === backslash && hasBackslash && !isPattern) {
      at += 1
      byte = escapes.get(next!) ?? next!
    } else if (byte === mark) at += 1
    plain[length] = byte
    length += 1
  }
  return plain.subarray(0, length)
}

function decodeAt(bytes: Buffer, rules: TextRules, at: number): string {
  try {
    return rules.decode(bytes)
  } catch {
    throw new TupleError(
      'a text has bytes that are not of the character set of the dump; make it again with --default-character-set=utf8mb4',
      at,
    )
  }
}
