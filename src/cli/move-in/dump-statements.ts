import { type ByteWindow, DumpError } from './dump-bytes.ts'

/** Reads the statements of a dump one after the other. */
export type StatementReader = {
  /** Moves to the next statement. False at the end of the file. */
  next: () => Promise<boolean>
  /** Returns the start of the statement, up to a number of bytes. Reads nothing. */
  peek: (length: number) => Promise<string>
  /** Returns the whole statement without comments. Throws where it is longer than 16 MiB. */
  take: () => Promise<string>
  /** Moves behind the statement, in flat memory. */
  passOver: () => Promise<void>
  /** Whether the statement is in a comment that only some versions run, as the placeholders of views are. */
  isConditional: () => boolean
  /** Whether a backslash escapes in texts. */
  setBackslash: (escapes: boolean) => void
  /** Whether the last line of a complete dump was seen. */
  isComplete: () => boolean
}

const maxStatement = 16 * 1024 * 1024
/** The first line of MariaDB: a comment to every server, whatever its number. */
const sandboxMark = /^\/\*M?!999999/
const conditionalMark = /^\/\*M?!\d*/

const code = (text: string) => text.charCodeAt(0)
const [backslash, slash, star, dash, hash] = ['\\', '/', '*', '-', '#'].map(code) as [
  number,
  number,
  number,
  number,
  number,
]
const quotes = ["'", '"', '`'].map(code)
const newline = 0x0a
/** 1 for bytes that can begin a text or a comment. */
const special = new Uint8Array(256)
for (const byte of [...quotes, slash, star, dash, hash]) special[byte] = 1

/** Opens the statements of a dump. A `DELIMITER` line changes what ends them, as in the client. */
export function readStatements(window: ByteWindow): StatementReader {
  return new Statements(window)
}

class Statements implements StatementReader {
  readonly #window: ByteWindow
  #delimiter = Buffer.from(';')
  #hasBackslash = true
  #isConditional = false
  #isComplete = false

  constructor(window: ByteWindow) {
    this.#window = window
  }

  isConditional = () => this.#isConditional
  isComplete = () => this.#isComplete
  setBackslash = (escapes: boolean) => {
    this.#hasBackslash = escapes
  }

  next = async (): Promise<boolean> => {
    this.#isConditional = false
    const window = this.#window
    while (await this.#have(1)) {
      const byte = window.bytes[window.position]!
      if (byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf) window.position += 1
      else if (await this.#startsWith(this.#delimiter)) window.position += this.#delimiter.length
      else if (await this.#isComment()) await this.#readComment()
      else if (/^delimiter\s/i.test(await this.peek(10))) await this.#readDelimiter()
      else return true
    }
    return false
  }

  peek = async (length: number): Promise<string> => {
    await this.#have(length)
    const { bytes, position } = this.#window
    return bytes.toString('utf8', position, position + length)
  }

  take = async (): Promise<string> => {
    const parts: Buffer[] = []
    let length = 0
    const start = this.#window.place()
    await this.#toEnd((part) => {
      length += part.length
      if (length > maxStatement) throw new DumpError(`The statement at ${start} is longer than 16 MiB.`)
      parts.push(Buffer.from(part))
    })
    return Buffer.concat(parts).toString('utf8')
  }

  passOver = () => this.#toEnd(() => undefined)

  async #have(length: number): Promise<boolean> {
    const window = this.#window
    while (window.bytes.length - window.position < length) if (!(await window.fill())) break
    return window.bytes.length - window.position >= length
  }

  async #startsWith(text: Buffer): Promise<boolean> {
    await this.#have(text.length)
    const { bytes, position } = this.#window
    return bytes.subarray(position, position + text.length).equals(text)
  }

  async #isComment(): Promise<boolean> {
    await this.#have(3)
    const { bytes, position } = this.#window
    const [first, second, third = newline] = bytes.subarray(position, position + 3)
    if (first === hash) return true
    if (first === dash && second === dash) return third <= 0x20
    return (first === slash && second === star) || (first === star && second === slash)
  }

  /** Moves behind a comment, or into one that servers run. */
  async #readComment(): Promise<void> {
    const window = this.#window
    const start = await this.peek(16)
    if (start.startsWith('*/')) window.position += 2
    else if (!start.startsWith('/*')) await this.#readLine()
    else if (conditionalMark.test(start) && !sandboxMark.test(start)) {
      this.#isConditional = true
      window.position += conditionalMark.exec(start)![0].length
    } else {
      window.position += 2
      await this.#pass(Buffer.from('*/'))
    }
  }

  async #readLine(): Promise<void> {
    const line = await this.peek(64)
    if (line.startsWith('-- Dump completed')) this.#isComplete = true
    await this.#pass(Buffer.from('\n'))
  }

  /** Moves behind a text, which the end of the file may be in place of. */
  async #pass(text: Buffer): Promise<void> {
    const window = this.#window
    for (;;) {
      const at = window.bytes.indexOf(text, window.position)
      window.position =
        at === -1 ? Math.max(window.position, window.bytes.length - text.length + 1) : at + text.length
      if (at !== -1) return
      if (await window.fill()) continue
      window.position = window.bytes.length
      return
    }
  }

  async #readDelimiter(): Promise<void> {
    const line = (await this.peek(64)).split('\n')[0] ?? ''
    this.#delimiter = Buffer.from(line.replace(/^delimiter\s+/i, '').trim())
    if (this.#delimiter.length === 0)
      throw new DumpError(`${this.#window.place()}: DELIMITER without a delimiter.`)
    await this.#pass(Buffer.from('\n'))
  }

  async #toEnd(keep: (part: Buffer) => void): Promise<void> {
    const window = this.#window
    const start = window.place()
    const keepTo = (end: number) => {
      keep(window.bytes.subarray(window.position, end))
      window.position = end
    }
    this.#isComplete = false
    for (;;) {
      keepTo(this.#plainEnd())
      if (!(await this.#have(1)))
        throw new DumpError(`The dump is cut off: the statement at ${start} has no end.`)
      if (await this.#startsWith(this.#delimiter)) {
        window.position += this.#delimiter.length
        return
      }
      if (quotes.includes(window.bytes[window.position]!)) await this.#quoted(start, keepTo)
      else if (await this.#isComment()) await this.#readComment()
      else keepTo(window.position + 1)
    }
  }

  /** Returns where the next byte is that can begin a comment, the end, or a text that goes on in the bytes that come next. */
  #plainEnd(): number {
    const { bytes, position } = this.#window
    const first = this.#delimiter[0]!
    let at = position
    for (;;) {
      while (at < bytes.length && bytes[at] !== first && special[bytes[at]!] === 0) at += 1
      const isQuote = at < bytes.length && quotes.includes(bytes[at]!)
      const end = isQuote ? endOfQuoted(bytes, at, this.#hasBackslash) : -1
      if (end === -1) return at
      at = end
    }
  }

  async #quoted(start: string, keepTo: (end: number) => void): Promise<void> {
    const window = this.#window
    const mark = window.bytes[window.position]!
    const escapes = this.#hasBackslash && mark !== code('`')
    keepTo(window.position + 1)
    for (;;) {
      const { bytes } = window
      let at = window.position
      while (at < bytes.length && bytes[at] !== mark) at += escapes && bytes[at] === backslash ? 2 : 1
      if (at < bytes.length) return keepTo(at + 1)
      // An escape may go on in the bytes that come next.
      keepTo(Math.min(at, bytes.length) - (at > bytes.length ? 1 : 0))
      if (!(await window.fill()))
        throw new DumpError(`The dump is cut off in a text of the statement at ${start}.`)
    }
  }
}

/** Returns the place behind a text; -1 where its end is not in the bytes. A doubled quote counts as two texts. */
function endOfQuoted(bytes: Buffer, from: number, hasBackslash: boolean): number {
  const mark = bytes[from]!
  const escapes = hasBackslash && mark !== code('`')
  let at = from + 1
  while (at < bytes.length && bytes[at] !== mark) at += escapes && bytes[at] === backslash ? 2 : 1
  return at < bytes.length ? at + 1 : -1
}
