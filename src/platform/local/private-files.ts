import { chmod, lstat, mkdir, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { log } from '../../log.ts'

/** Mode bits of the owner's group and of all other accounts. */
const othersMask = 0o077
const stickyBit = 0o1000
/** Windows keeps rights elsewhere, and reports the same mode for every file. */
const hasModes = process.platform !== 'win32'

/**
 * Creates a folder with its parents, or makes an existing one private: mode 0700. Throws when another account could
 * still read it, and for a folder that accounts share, such as `/tmp`.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  await createFolder(path)
  const found = await stat(path)
  if (!found.isDirectory()) throw new Error(`DATA_DIR ${path} is not a folder.`)
  if (!hasModes || (found.mode & othersMask) === 0) return
  if ((found.mode & stickyBit) !== 0 || dirname(path) === path)
    throw new Error(`DATA_DIR ${path} is shared by all accounts. Set it to a folder of its own.`)
  await restrict(path, found.mode, 0o700)
}

/** Makes these files of a folder private, and those in its folders of these names: mode 0600. Missing ones are fine. */
export async function makeFilesPrivate(directory: string, names: readonly string[]): Promise<void> {
  if (!hasModes) return
  for (const name of names) {
    const path = join(directory, name)
    const found = await lstat(path).catch(() => null)
    if (found?.isDirectory()) {
      await restrict(path, found.mode, 0o700)
      await makeFilesPrivate(path, await readdir(path))
    } else if (found && !found.isSymbolicLink()) await restrict(path, found.mode, 0o600)
  }
}

async function restrict(path: string, mode: number, privateMode: number): Promise<void> {
  if ((mode & othersMask) === 0) return
  const refusal = `${path} can be read by other accounts, and its mode cannot be changed to ${privateMode.toString(8)}`
  await chmod(path, privateMode).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${refusal} (${error.code}). Change it, or set DATA_DIR to another folder.`)
  })
  // Some file systems accept the change and keep the mode.
  if (((await stat(path)).mode & othersMask) !== 0)
    throw new Error(`${refusal}: its file system keeps no modes. Set DATA_DIR to a folder on another one.`)
  log('warn', 'Other accounts of this machine could read data of the panel. The mode was changed.', {
    key: basename(path),
  })
}

/** Creates a folder and its missing parents. `recursive` of Node never ends below `/proc`. */
async function createFolder(path: string, wanted = path): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    const parent = dirname(path)
    if (code !== 'ENOENT' || (await exists(parent)) || parent === path)
      throw new Error(`DATA_DIR ${wanted} cannot be created (${code}).`)
    await createFolder(parent, wanted)
    await createFolder(path, wanted)
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )
