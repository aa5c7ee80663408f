import { once } from 'node:events'
import { create, extract } from 'tar'

/**
 * Packs the regular files and folders below a folder, or those of the given names, into a tar.gz. Links are left out,
 * as in Wings.
 */
export function packDirectory(directory: string, names = ['.']): AsyncIterable<Buffer> {
  return create(
    {
      cwd: directory,
      gzip: true,
      strict: true,
      filter: (_path, entry) => 'isFile' in entry && (entry.isFile() || entry.isDirectory()),
    },
    // The library reads a name that begins with @ as an archive.
    names.map((name) => (name.startsWith('@') ? `./${name}` : name)),
  )
}

/**
 * Extracts a tar.gz below a folder and calls `onChunk` with every chunk before. Rejects for an incomplete archive and
 * for entries outside of the folder. Resolves when everything is written.
 */
export async function unpackInto(
  directory: string,
  archive: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  // Worlds that are mostly empty exceed the default limit.
  const limits = { maxDecompressionRatio: Infinity }
  const files = extract({ cwd: directory, strict: true, preserveOwner: false, ...limits })
  const written = once(files, 'finish')
  // Only the first failure is awaited, and later; none may be reported as an unhandled rejection.
  files.on('error', () => {})
  written.catch(() => {})
  try {
    for await (const chunk of archive) {
      onChunk(chunk)
      if (!files.write(chunk)) await Promise.race([once(files, 'drain'), written])
    }
  } finally {
    files.end()
  }
  await written
}
