import { chownSync, lchownSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export type UnprivilegedUser = { name: string; uid: number; gid: number }

const userName = 'nobody'

/** Finds the user as whom a daemon that root started runs. Null when another user started it, or when there is none. */
export function findUnprivilegedUser(): UnprivilegedUser | null {
  if (process.getuid?.() !== 0) return null
  const entry = new RegExp(`^${userName}:[^:]*:(-?\\d+):(-?\\d+):`, 'm').exec(readUsers())
  return entry ? { name: userName, uid: Number(entry[1]), gid: Number(entry[2]) } : null
}

function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}

/** Checks whether every user can enter the folders above a path; folders that are missing yet are no hindrance. */
export function isReachable(path: string): boolean {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const mode = statSync(folder, { throwIfNoEntry: false })?.mode
    if (mode !== undefined && (mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

/** Says as whom game servers run and what does not protect the machine from them. */
export const isolationWarning = (user: UnprivilegedUser | null): string =>
  `No isolation, for trying only: game servers run on this machine as ${user ? user.name : 'the user who started the panel'}.`

/**
 * Creates the data folder of a daemon. With a user, gives it with its content to that user, as whom this process and its
 * later child processes run from then on. Throws when the user cannot reach the folder.
 */
export function becomeUser(user: UnprivilegedUser | null, dataDirectory: string): void {
  mkdirSync(dirname(resolve(dataDirectory)), { recursive: true })
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  if (!user) return
  if (!isReachable(dataDirectory)) {
    throw new Error(
      `The daemon runs as ${user.name}, who cannot enter the folders above ${dataDirectory}. Choose another folder.`,
    )
  }
  if (lstatSync(dataDirectory).uid !== user.uid) giveTo(user, dataDirectory)
  process.setgroups?.([])
  process.setgid?.(user.gid)
  process.setuid?.(user.uid)
}

/** Gives a folder to the user with what is in it, but not what links in it lead to. */
function giveTo(user: UnprivilegedUser, folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) giveTo(user, path)
    else lchownSync(path, user.uid, user.gid)
  }
  chownSync(folder, user.uid, user.gid)
}
