import { forbidden, type Reason } from '../../errors.ts'
import { invalidField } from '../validation.ts'

/** The folder of the trash in the root of each server; only the trash itself may access it. */
export const trashDirectory = '/.roost-trash'

const maxPathBytes = 4096
const maxNameBytes = 255
const byteLength = (text: string) => new TextEncoder().encode(text).byteLength

/**
 * Resolves `path` below `root` to an absolute path without `.`, `..`, doubled and trailing slashes; `''` and
 * `'/'` are the root. A backslash is an ordinary character, nothing is decoded (IN-7).
 *
 * Refuses with 422 on `field` paths that leave the root, contain control characters or are too long, with 403 the
 * trash in every spelling.
 */
export function resolvePath(field: string, root: string, path = ''): string {
  const joined = `${root}/${path}`
  if (/\p{Cc}/u.test(joined))
    throw invalidPath(field, 'regex', 'path_control_character', 'contains a control character')
  if (byteLength(joined) > maxPathBytes) throw invalidPath(field, 'max', 'path_too_long', 'is too long')
  const segments: string[] = []
  for (const segment of joined.split('/')) {
    if (segment === '' || segment === '.') continue
    if (byteLength(segment) > maxNameBytes)
      throw invalidPath(field, 'max', 'name_too_long', 'has a name that is too long')
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined)
      throw invalidPath(field, 'p_path', 'path_outside_server', 'leads outside the server')
  }
  if (segments.some(isTrashName))
    throw forbidden('trash_folder', 'This folder is reserved for the trash of the server.')
  return `/${segments.join('/')}`
}

/** Resolves the path of an entry to act on. Refuses with 422 also the root and an empty path. */
export function resolveEntry(field: string, root: string, path: string): string {
  const resolved = resolvePath(field, root, path)
  if (resolved === '/' || path === '')
    throw invalidPath(field, 'required', 'path_required', 'must name a file or folder')
  return resolved
}

/** Resolves the path of an entry in the folder `root`, at any depth. Refuses with 422 also paths outside it. */
export function resolveMember(field: string, root: string, path: string): string {
  const resolved = resolveEntry(field, root, path)
  if (!isBelow(root, resolved))
    throw invalidPath(field, 'p_path', 'path_outside_folder', 'must be inside the folder')
  return resolved
}

/** Whether a path is inside a folder, at any depth; both are resolved. */
export const isBelow = (directory: string, path: string): boolean =>
  path !== directory && path.startsWith(directory === '/' ? '/' : `${directory}/`)

/** Returns the path relative to a folder when it is inside it, else the whole path. */
export const relativeName = (directory: string, path: string): string =>
  isBelow(directory, path) ? path.slice(directory === '/' ? 1 : directory.length + 1) : path

/** Splits the path of an entry into folder and name. */
export function splitPath(path: string): { directory: string; name: string } {
  const slash = path.lastIndexOf('/')
  return { directory: path.slice(0, slash) || '/', name: path.slice(slash + 1) }
}

/** Formats a folder for activity entries, with a slash at both ends. */
export const displayDirectory = (path: string) => (path === '/' ? '/' : `${path}/`)

/**
 * Whether a name is that of the trash, also for a reader that decodes it, folds case or widths, treats
 * backslashes as slashes, or ignores invisible characters.
 */
export function isTrashName(name: string): boolean {
  return decodeRepeatedly(name)
    .normalize('NFKD')
    .replace(/[\p{Cc}\p{Cf}\p{Mn}\p{White_Space}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\p{Pd}/gu, '-')
    .toLowerCase()
    .split(/[/\\]/)
    .some((part) => part.replace(/\.+$/, '') === trashDirectory.slice(1))
}

/** Decodes percent signs up to three times, as readers in a row might. */
function decodeRepeatedly(name: string, rounds = 3): string {
  if (rounds === 0 || !name.includes('%')) return name
  try {
    return decodeRepeatedly(decodeURIComponent(name), rounds - 1)
  } catch {
    const decodedText = name.replace(/%([0-7][0-9a-f])/gi, (_, code: string) =>
      String.fromCharCode(parseInt(code, 16)),
    )
    return decodeRepeatedly(decodedText, rounds - 1)
  }
}

const invalidPath = (field: string, rule: string, reason: Reason, problem: string) =>
  invalidField(field, rule, `The ${field} field ${problem}.`, { reason })
