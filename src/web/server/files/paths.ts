/**
 * Returns the absolute path without `.`, `..`, and double or trailing slashes. Paths above the root end at the
 * root.
 */
export function normalizePath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

/** Joins a folder and a name. */
export const joinPath = (directory: string, name: string): string => normalizePath(`${directory}/${name}`)

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Returns the folders from the root to a path. */
export function ancestorsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean)
  return names.map((name, at) => ({ name, path: `/${names.slice(0, at + 1).join('/')}` }))
}

/** Returns a path relative to a folder, by way of the root. */
export const relativePath = (directory: string, path: string): string =>
  '../'.repeat(ancestorsOf(directory).length) + path.slice(1)
