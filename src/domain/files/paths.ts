import { forbidden, invalid } from '../../errors.ts'

/** Where what was moved to the trash lies, below the root of each server. Nothing but the trash itself may touch it. */
export const trashDirectory = '/.roost-trash'

const longestPath = 4096
const longestName = 255
const bytes = (text: string) => new TextEncoder().encode(text).byteLength

/**
 * The absolute path of `path` below `root`, without `.`, `..`, doubled and trailing slashes; `''` and `'/'`
 * are the root. A backslash is a letter like others, nothing is decoded.
 *
 * Refuses with 422 on `field` paths that leave the root, hold control characters or are too long, with 403
 * the trash in every spelling.
 */
export function resolvePath(field: string, root: string, path = ''): string {
  const joined = `${root}/${path}`
  if (/\p{Cc}/u.test(joined)) throw refused(field, 'regex', 'holds a control character')
  if (bytes(joined) > longestPath) throw refused(field, 'max', 'is too long')
  const segments: string[] = []
  for (const segment of joined.split('/')) {
    if (segment === '' || segment === '.') continue
    if (bytes(segment) > longestName) throw refused(field, 'max', 'has a name that is too long')
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) throw refused(field, 'p_path', 'leads out of the server')
  }
  if (segments.some(isTrashName)) throw forbidden('This folder is reserved for the trash of the server.')
  return `/${segments.join('/')}`
}

/** The same for things that are acted on: the root itself is refused with 422, and so is no name at all. */
export function resolveEntry(field: string, root: string, path: string): string {
  const resolved = resolvePath(field, root, path)
  if (resolved === '/' || path === '') throw refused(field, 'required', 'names no file')
  return resolved
}

/** The same for members of a list: what is not in the folder `root`, or is that folder, is refused with 422. */
export function resolveMember(field: string, root: string, path: string): string {
  const resolved = resolveEntry(field, root, path)
  if (!isBelow(root, resolved)) throw refused(field, 'p_path', 'names nothing in the folder')
  return resolved
}

/** Whether a path lies in a folder, at any depth; both resolved. */
export const isBelow = (directory: string, path: string): boolean =>
  path !== directory && path.startsWith(directory === '/' ? '/' : `${directory}/`)

/** A path as it is called in a folder: from there on when it lies below, else whole. */
export const nameIn = (directory: string, path: string): string =>
  isBelow(directory, path) ? path.slice(directory === '/' ? 1 : directory.length + 1) : path

/** Folder and name of an entry. */
export function splitPath(path: string): { directory: string; name: string } {
  const slash = path.lastIndexOf('/')
  return { directory: path.slice(0, slash) || '/', name: path.slice(slash + 1) }
}

/** A folder as activity feeds show it, with a slash at both ends. */
export const shownDirectory = (path: string) => (path === '/' ? '/' : `${path}/`)

/**
 * Whether a name is the trash's, or might be taken for it by a reader that decodes, folds case or widths,
 * takes backslashes for slashes, or ignores what is not seen.
 */
export function isTrashName(name: string): boolean {
  return decoded(name)
    .normalize('NFKD')
    .replace(/[\p{Cc}\p{Cf}\p{Mn}\p{White_Space}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\p{Pd}/gu, '-')
    .toLowerCase()
    .split(/[/\\]/)
    .some((part) => part.replace(/\.+$/, '') === trashDirectory.slice(1))
}

/** Percent signs are decoded as often as three readers in a row would. */
function decoded(name: string, times = 3): string {
  if (times === 0 || !name.includes('%')) return name
  try {
    return decoded(decodeURIComponent(name), times - 1)
  } catch {
    const letters = name.replace(/%([0-7][0-9a-f])/gi, (_, code: string) =>
      String.fromCharCode(parseInt(code, 16)),
    )
    return decoded(letters, times - 1)
  }
}

const refused = (field: string, rule: string, fault: string) =>
  invalid([{ field, rule, detail: `The ${field} field ${fault}.` }])
