import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** A dump that cannot be read, with the place. Nothing was written. */
export class DumpError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DumpError'
  }
}

const chunkBytes = 64 * 1024
const gzipMagic = '1f8b'

/** First bytes of files that are often given in place of a dump, and what to do with each. */
const otherFiles: [hex: string, what: string][] = [
  ['504b0304', 'is a zip file: unpack it, and give the .sql file in it'],
  ['28b52ffd', 'is packed with zstd: unpack it with "zstd -d", or pack it with gzip'],
  ['fd377a585a00', 'is packed with xz: unpack it with "unxz", or pack it with gzip'],
  ['425a68', 'is packed with bzip2: unpack it with "bunzip2", or pack it with gzip'],
  ['fffe', 'is UTF-16, as the > of PowerShell writes it: make the dump with --result-file=panel.sql'],
  ['feff', 'is UTF-16: make the dump with --result-file=panel.sql'],
  ['5047444d50', 'is an archive of pg_dump: give the database itself, with --database postgres://…'],
  ['53514c69746520666f726d6174203300', 'is a database of SQLite: give it with --database sqlite:FILE'],
]

/** Opens a dump, plain or gzip, as a window over its bytes. Refuses other formats, and what cannot be read. */
export async function openDump(path: string): Promise<ByteWindow> {
  const first = await readStart(path)
  const other = otherFiles.find(([hex]) => first.startsWith(hex))
  if (other) throw new DumpError(`${path} ${other[1]}.`)
  if (first === '') throw new DumpError(`${path} is empty.`)
  const file = createReadStream(path, { highWaterMark: chunkBytes })
  if (!first.startsWith(gzipMagic)) return new ByteWindow(file)
  const gunzip = createGunzip({ chunkSize: chunkBytes })
  // Errors of either reach the window, which reads the last stream.
  pipeline(file, gunzip, () => undefined)
  return new ByteWindow(gunzip)
}

async function readStart(path: string): Promise<string> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new DumpError(`${path} cannot be read: ${error.message}.`)
  })
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.toString('hex', 0, bytesRead)
  } catch (error) {
    throw new DumpError(`${path} cannot be read: ${(error as Error).message}.`)
  } finally {
    await file.close()
  }
}

const newline = 0x0a

/** The part of a stream that is being read: what was read is dropped, so memory is that of the largest value. */
export class ByteWindow {
  /** Bytes that are there; those before `position` were read. */
  bytes: Buffer = Buffer.alloc(0)
  position = 0
  readonly #stream: AsyncIterable<Buffer> & { destroy: () => void }
  readonly #chunks: AsyncIterator<Buffer>
  #droppedBytes = 0
  #lines = 1
  #linesAt = 0

  constructor(stream: AsyncIterable<Buffer> & { destroy: () => void }) {
    this.#stream = stream
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Adds bytes, at least as many as are unread, so that a value of any length is scanned a few times only. False at the end. */
  async fill(): Promise<boolean> {
    this.#drop()
    const parts: Buffer[] = [this.bytes]
    let added = 0
    while (added === 0 || added < this.bytes.length) {
      const { done, value } = await this.#next()
      if (done) break
      parts.push(value)
      added += value.length
    }
    if (added > 0) this.bytes = Buffer.concat(parts)
    return added > 0
  }

  async #next(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.#chunks.next()
    } catch (error) {
      throw new DumpError(
        `The file is torn or damaged: ${(error as Error).message}, ${this.place()} of what could be read. Copy it again.`,
      )
    }
  }

  #drop(): void {
    this.#countLines()
    this.#linesAt = 0
    this.#droppedBytes += this.position
    this.bytes = this.bytes.subarray(this.position)
    this.position = 0
  }

  /** Number of bytes that were read. */
  get offset(): number {
    return this.#droppedBytes + this.position
  }

  /** Says where reading has got to, as line and byte. */
  place(): string {
    this.#countLines()
    return `line ${this.#lines} (byte ${this.offset})`
  }

  #countLines(): void {
    const { bytes, position } = this
    for (
      let at = bytes.indexOf(newline, this.#linesAt);
      at !== -1 && at < position;
      at = bytes.indexOf(newline, at + 1)
    )
      this.#lines += 1
    this.#linesAt = position
  }

  /** Closes the file. */
  close(): void {
    this.#stream.destroy()
  }
}
