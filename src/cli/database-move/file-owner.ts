import { lchown, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Gives every file below a folder to the account that owns the folder. As root this command makes files which the panel
 * of a service could not read; other accounts cannot open the folder of another.
 */
export async function giveToOwner(folder: string): Promise<void> {
  const { uid, gid } = await stat(folder)
  if (process.getuid?.() !== 0 || uid === 0) return
  for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), uid, gid)
}
