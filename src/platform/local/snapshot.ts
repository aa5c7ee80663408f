import { constants } from 'node:fs'
import { cp, copyFile, link, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Panel } from '../../panel.ts'
import { freeBytes, minFreeBytes } from './disk-guard.ts'
import type { EmbeddedDatabase } from './pglite.ts'

/** The beginning of the names of folders in which a backup is collected, in the data directory. */
const prefix = 'backup-'
/** Hours after which such a folder was left by a process that was killed. */
const maxAgeHours = 24

/** Folders of the object store that a backup has; what is being received has no name yet. */
const objectFolders = ['keys', 'data', 'uploads']

/** Returns the `snapshot` of a panel whose embedded database is in `directory`. Statements wait while it is copied. */
export const snapshotOf =
  (directory: string, exclusively: EmbeddedDatabase['exclusively']): NonNullable<Panel['snapshot']> =>
  async ({ objects }) => {
    const database = join(directory, 'database')
    await requireSpace(directory, await sizeOf(database))
    const folder = await makeBackupFolder(directory)
    try {
      await exclusively(async () => {
        const mode = constants.COPYFILE_FICLONE
        await cp(database, join(folder, 'database'), { recursive: true, mode })
        if (objects) await linkObjects(directory, folder)
      })
      return folder
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

/** Makes a folder of mode 0700 in the data directory to collect a backup in, and removes old ones that were left. */
export async function makeBackupFolder(directory: string): Promise<string> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const found = name.startsWith(prefix) ? await stat(path).catch(() => null) : null
    if (found?.isDirectory() && found.mtimeMs < Date.now() - maxAgeHours * 3_600_000)
      await rm(path, { recursive: true, force: true })
  }
  return mkdtemp(join(directory, prefix))
}

/**
 * Links the files of the object store into `folder`/objects, which takes no space: they are never changed, only
 * replaced. Keeps what an earlier call has linked. Files that are removed meanwhile are left out.
 */
export async function linkObjects(directory: string, folder: string): Promise<void> {
  for (const name of objectFolders)
    await linkTree(join(directory, 'objects', name), join(folder, 'objects', name))
}

async function linkTree(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(ignoreMissing)
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const entry of entries ?? []) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await linkTree(source, target)
    else await linkFile(source, target)
  }
}

async function linkFile(source: string, target: string): Promise<void> {
  await link(source, target).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return
    // The store is on another file system, or its file system has no links.
    await copyFile(source, target, constants.COPYFILE_FICLONE).catch(ignoreMissing)
  })
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}

/** Throws when a copy of this many bytes would leave too little for the embedded database. */
async function requireSpace(directory: string, bytes: number): Promise<void> {
  const needed = bytes + minFreeBytes
  const free = freeBytes(directory)
  if (free >= needed) return
  const [needs, has] = [needed, free].map((each) => Math.floor(each / 1024 / 1024))
  throw new Error(
    `The disk of ${directory} is too full for a backup: it needs ${needs} MiB for a while, and ${has} are free. Make space, and repeat.`,
  )
}

/** Adds up the bytes of all files below a folder. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0
  }
  return bytes
}
