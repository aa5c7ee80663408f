import { open, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DumpUpload } from '../../adapters/move-in.ts'
import { diskIsTooFull } from '../../domain/move-in/refusals.ts'
import { ApiError, invalid } from '../../errors.ts'
import { freeBytes } from '../../platform/local/disk-guard.ts'
import { hasOwner } from '../move-in/spool-folders.ts'

/** Bytes of a dump, as it is uploaded. Spec: docs/limits.md#sizes. */
export const maxDumpBytes = 16 * 1024 ** 3
/** Bytes of the disk that a move leaves free. */
const reservedBytes = 256 * 1024 ** 2
/** How many times the size of a dump its rows may need while it is read, plain and packed. */
const spoolFactors = { plain: 1.5, gzip: 12 }
/** Bytes, and milliseconds, between two looks at the disk and at the record of the move. */
const lookBytes = 32 * 1024 ** 2
const lookMs = 5_000

/** The folder of this machine in which a dump lies, and its rows while it is read. Private to the panel's account. */
export type DumpFolder = {
  path: string
  pathOf: (id: string) => string
  /** Whether the dump is here, or comes in. */
  has: (id: string) => Promise<boolean>
  /** Bytes that a dump may have. */
  freeBytes: () => number
  /** Stores a dump and returns its size; of one that does not come whole nothing stays. */
  receive: (id: string, upload: DumpUpload, onBytes: (bytes: number) => Promise<void>) => Promise<number>
  /** Refuses with 400 when the rows of a dump do not fit on the disk. */
  requireSpaceForRows: (id: string) => Promise<void>
  /** Deletes this dump; one that is being read is gone once that ends. */
  forget: (id: string) => Promise<void>
  /** Deletes all dumps but that with this id; `everything` also the rows that processes read which ended. */
  keepOnly: (id: string | null, everything?: boolean) => Promise<void>
}

/** Opens the folder below the data directory. It is made with the first dump. */
export function openDumpFolder(dataDirectory: string): DumpFolder {
  const path = join(dataDirectory, 'move-in')
  const pathOf = (id: string) => join(path, `${id}.dump`)
  const free = () => Math.max(0, freeBytes(dataDirectory) - reservedBytes)
  return {
    path,
    pathOf,
    has: async (id) => (await exists(pathOf(id))) || exists(`${pathOf(id)}.part`),
    freeBytes: free,
    receive: async (id, upload, onBytes) => {
      if (upload.size !== null) requireFits(upload.size, free)
      await mkdir(path, { recursive: true, mode: 0o700 })
      const draft = `${pathOf(id)}.part`
      try {
        const size = await writeChunks(draft, upload.chunks, free, onBytes)
        await rename(draft, pathOf(id))
        return size
      } catch (error) {
        await rm(draft, { force: true })
        throw isFull(error) ? tooFull(free()) : error
      }
    },
    requireSpaceForRows: async (id) => {
      const { size } = await stat(pathOf(id))
      const needed = size * spoolFactors[(await isGzip(pathOf(id))) ? 'gzip' : 'plain']
      if (needed > free()) throw tooFull(free(), needed)
    },
    forget: (id) => rm(pathOf(id), { force: true }),
    keepOnly: async (id, everything = false) => {
      for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
        const isKept = id !== null && entry.name.startsWith(id)
        const isRead = entry.isDirectory() && (!everything || (await hasOwner(entry.name)))
        if (isKept || isRead) continue
        await rm(join(path, entry.name), { recursive: true, force: true })
      }
    },
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

async function writeChunks(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  free: () => number,
  onBytes: (bytes: number) => Promise<void>,
): Promise<number> {
  const file = await open(path, 'w', 0o600)
  let [size, lookedBytes, lookedAt] = [0, 0, Date.now()]
  try {
    for await (const chunk of chunks) {
      size += chunk.byteLength
      if (size > maxDumpBytes) throw tooLarge()
      if (size - lookedBytes >= lookBytes || Date.now() - lookedAt >= lookMs) {
        ;[lookedBytes, lookedAt] = [size, Date.now()]
        if (free() === 0) throw tooFull(0)
        await onBytes(size)
      }
      await file.writeFile(chunk)
    }
    if (size === 0)
      throw invalid([{ field: 'dump', rule: 'required', detail: 'The dump field is required.' }])
    return size
  } finally {
    await file.close()
  }
}

function requireFits(size: number, free: () => number): void {
  if (size > maxDumpBytes) throw tooLarge()
  if (size > free()) throw tooFull(free(), size)
}

const tooLarge = () =>
  invalid([
    {
      field: 'dump',
      rule: 'max',
      detail: `The dump may not be greater than ${maxDumpBytes} bytes.`,
      values: { maximum: maxDumpBytes },
    },
  ])

const isFull = (error: unknown) =>
  !(error instanceof ApiError) && ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 ** 2)

const tooFull = (free: number, needed = free + 1) =>
  diskIsTooFull(mebibytes(needed), Math.floor(free / 1024 ** 2))

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}
