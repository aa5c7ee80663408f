/** The absolute path that is meant: without `.`, `..`, doubled and trailing slashes. What leads out ends at the root. */
export function normalPath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

/** The path of something in a folder. */
export const joinPath = (directory: string, name: string): string => normalPath(`${directory}/${name}`)

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The folders from the root to a path, each with its own path. */
export function ancestorsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean)
  return names.map((name, at) => ({ name, path: `/${names.slice(0, at + 1).join('/')}` }))
}

/** How a path is called from within a folder, by way of the root. */
export const pathFrom = (directory: string, path: string): string =>
  '../'.repeat(ancestorsOf(directory).length) + path.slice(1)
