import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Files that were put in place; `keep` removes the old ones, except old keys, and `undo` brings all of them back. */
export type Replaced = { keep: () => Promise<void>; undo: () => Promise<void> }

/** Moves files of one folder into the data directory, and those that they replace into a folder beside them. */
export async function replaceFiles(from: string, directory: string, names: string[]): Promise<Replaced> {
  const old = await mkdtemp(join(directory, 'before-restore-'))
  const undos: (() => Promise<void>)[] = []
  const move = async (source: string, target: string) => {
    await rename(source, target)
    undos.push(() => rename(target, source))
  }
  const undo = async () => {
    for (const each of undos.splice(0).toReversed()) await each()
    await rm(old, { recursive: true, force: true })
  }
  try {
    for (const name of names) {
      if (existsSync(join(directory, name))) await move(join(directory, name), join(old, name))
      await move(join(from, name), join(directory, name))
    }
  } catch (error) {
    await undo()
    throw error
  }
  return {
    undo,
    keep: async () => {
      for (const name of names)
        if (name !== 'secrets.json') await rm(join(old, name), { recursive: true, force: true })
      if ((await readdir(old)).length === 0) await rm(old, { recursive: true })
    },
  }
}
