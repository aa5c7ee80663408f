import { lstat, mkdir, readlink } from 'node:fs/promises'
import { isAbsolute, join, posix } from 'node:path'
import { systemCode } from './file-errors.ts'

const mostLinks = 40

/** A path as Wings understands it: absolute below the root of the server, `..` ends there. */
export function cleanPath(...parts: string[]): string {
  return posix.resolve('/', `./${parts.join('/')}`)
}

/**
 * Where a path lies on the disk; the thing itself need not be there. Rejects when the folder it is in is missing,
 * no folder, or a link, and when a link further up leads out of the root. Wings: openat2, RESOLVE_BENEATH.
 */
export async function locate(root: string, path: string): Promise<string> {
  const clean = cleanPath(path)
  if (clean === '/') return root
  const parent = posix.dirname(clean)
  const folder = join(await follow(root, posix.dirname(parent)), posix.basename(parent))
  const found = await lstat(folder)
  if (found.isSymbolicLink()) throw new Error(`${parent} is a link`)
  if (!found.isDirectory()) throw notDirectory(parent)
  return join(folder, posix.basename(clean))
}

/** Where a folder lies, with the links on the way followed; none may be absolute or lead out of the root. */
async function follow(root: string, path: string): Promise<string> {
  const waiting = path.split('/')
  const trail: string[] = []
  let links = 0
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (trail.pop() === undefined) throw new Error(`${path} leads out of the server`)
      continue
    }
    const place = join(root, ...trail, part)
    const found = await lstat(place)
    if (found.isSymbolicLink()) {
      const target = await readlink(place)
      links += 1
      if (isAbsolute(target) || links > mostLinks) throw new Error(`${path} leads out of the server`)
      waiting.unshift(...target.split('/'))
    } else if (found.isDirectory()) trail.push(part)
    else throw notDirectory(path)
  }
  return join(root, ...trail)
}

function notDirectory(path: string): Error {
  return Object.assign(new Error(`${path} is no directory`), { code: 'ENOTDIR' })
}

/** A folder and all above it are there afterwards; rejects with ENOTDIR when something else is in the way. */
export async function ensureDirectory(root: string, path: string): Promise<void> {
  const clean = cleanPath(path)
  if (clean === '/') return
  await ensureDirectory(root, posix.dirname(clean))
  const place = await locate(root, clean)
  try {
    await mkdir(place, 0o755)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    if (!(await lstat(place)).isDirectory()) throw notDirectory(clean)
  }
}

/** Where a file is to be written; the folders above it are there afterwards. */
export async function locateForWriting(root: string, path: string): Promise<string> {
  await ensureDirectory(root, posix.dirname(cleanPath(path)))
  return locate(root, path)
}
