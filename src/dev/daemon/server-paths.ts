import { lstat, mkdir, readlink } from 'node:fs/promises'
import { isAbsolute, join, posix } from 'node:path'
import { systemCode } from './file-errors.ts'

const maxLinks = 40

/** Normalizes a path as Wings does: absolute below the root of the server, which `..` does not leave. */
export function cleanPath(...parts: string[]): string {
  return posix.resolve('/', `./${parts.join('/')}`)
}

/**
 * Finds the path on the disk of a file, which need not exist. Rejects when its folder is missing, not a folder, or a
 * link, and when a link above leads out of the root. openat2(2), RESOLVE_BENEATH.
 */
export async function locate(root: string, path: string): Promise<string> {
  const clean = cleanPath(path)
  if (clean === '/') return root
  const parent = posix.dirname(clean)
  const folder = join(await followLinks(root, posix.dirname(parent)), posix.basename(parent))
  const found = await lstat(folder)
  if (found.isSymbolicLink()) throw new Error(`${parent} is a link`)
  if (!found.isDirectory()) throw notDirectory(parent)
  return join(folder, posix.basename(clean))
}

/** Finds the path on the disk of a folder and follows links, which may not be absolute or lead out of the root. */
async function followLinks(root: string, path: string): Promise<string> {
  const remaining = path.split('/')
  const trail: string[] = []
  let links = 0
  for (let part = remaining.shift(); part !== undefined; part = remaining.shift()) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (trail.pop() === undefined) throw new Error(`${path} leads out of the server`)
      continue
    }
    const diskPath = join(root, ...trail, part)
    const found = await lstat(diskPath)
    if (found.isSymbolicLink()) {
      const target = await readlink(diskPath)
      links += 1
      if (isAbsolute(target) || links > maxLinks) throw new Error(`${path} leads out of the server`)
      remaining.unshift(...target.split('/'))
    } else if (found.isDirectory()) trail.push(part)
    else throw notDirectory(path)
  }
  return join(root, ...trail)
}

function notDirectory(path: string): Error {
  return Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' })
}

/** Creates a folder and all above it. Rejects with ENOTDIR when a file has the name of one. */
export async function ensureDirectory(root: string, path: string): Promise<void> {
  const clean = cleanPath(path)
  if (clean === '/') return
  await ensureDirectory(root, posix.dirname(clean))
  const diskPath = await locate(root, clean)
  try {
    await mkdir(diskPath, 0o755)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    if (!(await lstat(diskPath)).isDirectory()) throw notDirectory(clean)
  }
}

/** Finds the path on the disk at which to write a file, and creates the folders above it. */
export async function locateForWriting(root: string, path: string): Promise<string> {
  await ensureDirectory(root, posix.dirname(cleanPath(path)))
  return locate(root, path)
}
