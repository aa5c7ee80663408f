import { createHash } from 'node:crypto'
import { chmod, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { OperationError } from '../faults.ts'

const mark =
  '# Written by service:install of Roost. Change it with systemctl edit, which keeps what you change apart.'
const digestLine = /^# sha256 of the lines below: ([0-9a-f]{64})$/

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Adds the lines by which a unit is known as one that is as it was written. */
export const signUnit = (text: string): string =>
  `${mark}\n# sha256 of the lines below: ${digestOf(text)}\n${text}`

/** Says why a file is not to be overwritten; null for a unit that is as it was written. */
function reasonToKeep(text: string): string | null {
  const [first, second = '', ...lines] = text.split('\n')
  const [, digest] = digestLine.exec(second) ?? []
  if (first !== mark || digest === undefined) return 'was not written by this verb'
  return digest === digestOf(lines.join('\n')) ? null : 'was changed since it was written'
}

/**
 * Writes a signed unit to its place. Refuses to overwrite what others wrote or changed; with `force` that is kept
 * beside it, under the name that is returned.
 */
export async function writeUnitFile(file: string, text: string, force: boolean): Promise<string | null> {
  const reason = await findReasonToKeep(file, text)
  if (reason !== null && !force)
    throw new OperationError(
      `${file} ${reason}. --print shows what would be in it, and --force replaces it and keeps a copy beside it.`,
    )
  const copy =
    reason === null ? null : `${file}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  const made = `${file}.new`
  await rm(made, { force: true })
  await writeFile(made, text, { mode: 0o644, flag: 'wx' })
  await chmod(made, 0o644)
  if (copy !== null) await rename(file, copy)
  await rename(made, file)
  return copy
}

async function findReasonToKeep(file: string, text: string): Promise<string | null> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return null
  })
  if (!found) return null
  // One that leads to /dev/null is how systemd masks a unit.
  if (!found.isFile()) return 'is a link, or no file: the unit may be masked'
  const there = await readFile(file, 'utf8')
  return there === text ? null : reasonToKeep(there)
}
