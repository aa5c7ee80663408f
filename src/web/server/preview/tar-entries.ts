import { type ArchiveEntry, type ArchiveListing, maxListedEntries } from './zip-entries.ts'

const blockBytes = 512
/** Names in extension blocks are short; anything else there is not read. */
const maxNameBlockBytes = 64 * 1024

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

/** Lists a tar while it is read, and stops reading after 5,000 entries. A tar that breaks off is listed as far as it goes. */
export async function listTar(stream: Bytes): Promise<ArchiveListing> {
  const source = readBlocks(stream.getReader())
  const entries: ArchiveEntry[] = []
  let longName: string | null = null
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a tar is read in order
    const header = await source.take(blockBytes)
    if (!header || header.every((byte) => byte === 0)) return { entries, isTruncated: false }
    const { name, size, type } = readHeader(header)
    const padded = Math.ceil(size / blockBytes) * blockBytes
    if ((type === 'x' || type === 'L') && size <= maxNameBlockBytes) {
      // oxlint-disable-next-line no-await-in-loop -- see above
      const content = await source.take(padded)
      longName = content ? nameIn(content.subarray(0, size), type) : null
      continue
    }
    if (type !== 'g') {
      const shown = longName ?? name
      entries.push({ name: shown, size, isFolder: type === '5' || shown.endsWith('/') })
      longName = null
    }
    // oxlint-disable-next-line no-await-in-loop -- see above
    if (entries.length === maxListedEntries || !(await source.skip(padded))) {
      source.cancel()
      return { entries, isTruncated: entries.length === maxListedEntries }
    }
  }
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Returns a text up to its first NUL. */
const textIn = (header: Uint8Array, from: number, length: number): string =>
  decode(header.subarray(from, from + length)).replace(/\0.*$/s, '')

function readHeader(header: Uint8Array): { name: string; size: number; type: string } {
  const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : ''
  const name = textIn(header, 0, 100)
  return {
    name: prefix ? `${prefix}/${name}` : name,
    size: sizeIn(header.subarray(124, 136)),
    type: textIn(header, 156, 1) || '0',
  }
}

/** Reads a size in octal digits, or in binary when the first bit is set. */
function sizeIn(field: Uint8Array): number {
  if ((field[0] ?? 0) < 0x80) return Number.parseInt(decode(field), 8) || 0
  return field.subarray(1).reduce((size, byte) => size * 256 + byte, 0)
}

/** Returns the name that an extension block gives to the next entry: a path of pax, or a long name of GNU. */
function nameIn(content: Uint8Array, type: 'x' | 'L'): string | null {
  const text = decode(content)
  return type === 'L' ? text.replace(/\0.*$/s, '') : (/(?:^|\n)\d+ path=(.*)\n/.exec(text)?.[1] ?? null)
}

/** Reads a stream in pieces of any length. */
function readBlocks(reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>) {
  let buffer = new Uint8Array(0)
  const fill = async (): Promise<boolean> => {
    const { done, value } = await reader.read()
    if (done) return false
    const joined = new Uint8Array(buffer.length + value.length)
    joined.set(buffer)
    joined.set(value, buffer.length)
    buffer = joined
    return true
  }
  return {
    /** Returns the next bytes; null when the stream ends before. */
    async take(length: number): Promise<Uint8Array | null> {
      // oxlint-disable-next-line no-await-in-loop -- a stream is read in order
      while (buffer.length < length) if (!(await fill())) return null
      const taken = buffer.subarray(0, length)
      buffer = buffer.subarray(length)
      return taken
    },
    /** Passes over bytes. Returns false when the stream ends before. */
    async skip(length: number): Promise<boolean> {
      let left = length
      while (buffer.length < left) {
        left -= buffer.length
        buffer = new Uint8Array(0)
        // oxlint-disable-next-line no-await-in-loop -- see above
        if (!(await fill())) return false
      }
      buffer = buffer.subarray(left)
      return true
    },
    cancel: (): void => void reader.cancel().catch(() => undefined),
  }
}
