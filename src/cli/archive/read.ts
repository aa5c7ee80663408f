import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { extract } from 'tar'
import { OperationError } from '../faults.ts'
import { type Manifest, verifyFiles } from './manifest.ts'

/** Unpacks an archive, `-` from standard input, into an empty folder, and checks every file. Throws for a damaged one. */
export async function readArchive(from: string, folder: string): Promise<Manifest> {
  const source = from === '-' ? process.stdin : createReadStream(from)
  const unpacked = extract({
    cwd: folder,
    strict: true,
    filter: (_path, entry) => !('type' in entry) || ['File', 'Directory'].includes(entry.type),
  })
  try {
    await pipeline(source, createZstdDecompress(), unpacked as unknown as NodeJS.WritableStream)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new OperationError(`There is no file ${from}.`)
    if (['ENOSPC', 'EDQUOT'].includes(code))
      throw new OperationError(
        'The disk of DATA_DIR is too full to unpack the archive. Nothing was changed: make space, and repeat.',
      )
    throw new OperationError(
      `The archive is damaged, or no backup of a panel: ${message}. Take another backup.`,
    )
  }
  return verifyFiles(folder)
}
