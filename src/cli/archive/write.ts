import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { create } from 'tar'
import { freeBytes, minFreeBytes } from '../../platform/local/disk-guard.ts'
import { OperationError } from '../faults.ts'
import { hashFiles, type Manifest, manifestName } from './manifest.ts'

/** The order of what an archive has at most; the manifest first, so that it is read quickly. */
const contents = [manifestName, 'secrets.json', 'database', 'database.dump', 'objects']

/**
 * Writes the folder as one archive, tar in zstd, with a manifest: to standard output for `-`, else to a new file that
 * gets its name once it is whole. Throws for an existing file, a full disk and a folder that cannot be written.
 */
export async function writeArchive(
  folder: string,
  described: Omit<Manifest, 'files'>,
  to: string,
): Promise<number> {
  const manifest: Manifest = { ...described, files: await hashFiles(folder) }
  await writeFile(join(folder, manifestName), JSON.stringify(manifest, null, 1), { mode: 0o600 })
  const names = contents.filter((name) => existsSync(join(folder, name)))
  const archive = () => create({ cwd: folder, portable: true }, names)
  if (to === '-') {
    await pipeline(archive(), createZstdCompress(), process.stdout, { end: false })
    return process.stdout.writableLength
  }
  const path = resolve(to)
  const partial = `${path}.${process.pid}.partial`
  const remove = () => rmSync(partial, { force: true })
  const stop = endsWith(remove)
  try {
    const file = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true })
    await pipeline(archive(), createZstdCompress(), keepSpace(dirname(path)), file)
    await rename(partial, path)
    return (await stat(path)).size
  } catch (error) {
    remove()
    throw explained(error, path)
  } finally {
    stop()
  }
}

/** Throws unless a new file can have this path. */
export function requireFreePath(to: string): void {
  if (to !== '-' && existsSync(to))
    throw new OperationError(`${to} exists already. Name another file with --to.`)
}

/** Calls `remove` and ends when the process is told to end, until the returned function is called. */
export function endsWith(remove: () => void): () => void {
  const end = () => {
    remove()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end)
  }
}

/** Lets bytes pass while the disk has more space than the embedded database needs, which may be on the same one. */
function keepSpace(folder: string): Transform {
  return new Transform({
    transform: (chunk, _encoding, done) => {
      const isFull = freeBytes(folder) < minFreeBytes
      done(isFull ? Object.assign(new Error('full'), { code: 'ENOSPC' }) : null, chunk)
    },
  })
}

const reasons: Record<string, string> = {
  ENOSPC: 'its disk is full. Make space, or name a file on another disk with --to',
  EDQUOT: 'the disk quota is used up. Name a file on another disk with --to',
  EACCES: 'this account may not write there. Name another file with --to',
  EROFS: 'the disk is read-only. Name a file on another disk with --to',
  ENOENT: 'the folder does not exist. Create it, or name another file with --to',
}

function explained(error: unknown, path: string): unknown {
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? '']
  return reason === undefined
    ? error
    : new OperationError(`The backup ${path} cannot be written: ${reason}. Nothing was left there.`)
}
