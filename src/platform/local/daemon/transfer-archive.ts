import { once } from 'node:events'
import { create, extract } from 'tar'

/**
 * The regular files and folders below a folder as a tar.gz, or what of them the names say. Links are left out, as
 * Wings leaves them out.
 */
export function packDirectory(directory: string, names = ['.']): AsyncIterable<Buffer> {
  return create(
    {
      cwd: directory,
      gzip: true,
      strict: true,
      filter: (_path, entry) => 'isFile' in entry && (entry.isFile() || entry.isDirectory()),
    },
    // A name that begins with @ would be read as an archive.
    names.map((name) => (name.startsWith('@') ? `./${name}` : name)),
  )
}

/**
 * Writes the files of a tar.gz below a folder and gives every chunk to `onChunk` before. Rejects for what is no
 * whole archive and for entries that would end up elsewhere. Resolves when everything is written.
 */
export async function unpackInto(
  directory: string,
  archive: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  // Worlds that are mostly empty shrink by more than the usual limit.
  const limits = { maxDecompressionRatio: Infinity }
  const files = extract({ cwd: directory, strict: true, preserveOwner: false, ...limits })
  const written = once(files, 'finish')
  // Only the first failure is waited for, and that not at once; none of them may count as unheard.
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
