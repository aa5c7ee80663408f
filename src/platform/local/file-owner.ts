import { lchown, lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Gives what root has made below a folder to the account that owns the folder: the panel of a service could not read it
 * otherwise. Other accounts cannot open the folder of another. What has a second name may be elsewhere, and stays.
 */
export async function giveToOwner(folder: string): Promise<void> {
  const { uid, gid } = await stat(folder)
  if (process.getuid?.() !== 0 || uid === 0) return
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name)
    const found = await lstat(path).catch(() => null)
    if (found?.uid === 0 && (found.isDirectory() || found.nlink === 1)) await lchown(path, uid, gid)
  }
}
