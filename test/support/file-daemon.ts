import { type DaemonAnswer, type DaemonCall, startStubDaemon, type StubDaemon } from './stub-daemon.ts'

type Kind = 'file' | 'folder' | 'link'

/** Handles a call before the daemon does; null lets it continue. */
type Interceptor = (call: FileCall) => DaemonAnswer | null

/** A call of the file routes: `route` is the last part of its path. */
export type FileCall = DaemonCall & { route: string; query: URLSearchParams }

/** A daemon with one tree of files for all servers. */
export type FileDaemon = StubDaemon & {
  /** Adds entries and the folders above them: a name that ends in `/` is a folder, one in `@` a link. */
  put: (...paths: string[]) => void
  /** Removes entries with all below them. */
  remove: (...paths: string[]) => void
  /** Lists every path, sorted; folders end in `/`, links in `@`. */
  paths: () => string[]
  /** Empties the tree and resets all options. */
  reset: () => void
  /** Names on the denylist of the egg. */
  locked: Set<string>
  /** Responds in place of the daemon, or acts before it responds. */
  intercept: (interceptor: Interceptor | null) => void
  /** Status for folders that are missing: 500 as with stock Wings, 404 as with newer ones. */
  missingStatus: number
}

/** Starts a stub of the file routes of stock Wings, with their quirks, in memory. Wings: docs/wings.md#file-routes */
export async function startFileDaemon(): Promise<FileDaemon> {
  const tree = new Map<string, Kind>()
  const stub = await startStubDaemon()
  let interceptor: Interceptor | null = null
  const daemon: FileDaemon = Object.assign(stub, {
    locked: new Set<string>(),
    missingStatus: 500,
    put: (...paths: string[]) => paths.forEach((path) => put(tree, path)),
    remove: (...paths: string[]) => paths.forEach((path) => remove(tree, path)),
    paths: () =>
      [...tree].map(([path, kind]) => path + suffixes[kind]).toSorted((one, other) => (one < other ? -1 : 1)),
    reset: () => {
      tree.clear()
      daemon.locked.clear()
      daemon.missingStatus = 500
      stub.calls.length = 0
      interceptor = null
      stub.respond(answer)
    },
    intercept: (next: Interceptor | null) => void (interceptor = next),
  })
  const answer = (call: DaemonCall): DaemonAnswer | null => {
    const url = new URL(call.path, 'http://daemon.test')
    const [, route] = /\/files\/([\w-]+)$/.exec(url.pathname) ?? []
    if (route === undefined) return null
    return (
      interceptor?.({ ...call, route, query: url.searchParams }) ?? fileAnswer(daemon, tree, route, url, call)
    )
  }
  stub.respond(answer)
  return daemon
}

const suffixes: Record<Kind, string> = { file: '', folder: '/', link: '@' }

function fileAnswer(
  daemon: FileDaemon,
  tree: Map<string, Kind>,
  route: string,
  url: URL,
  { body }: DaemonCall,
): DaemonAnswer | null {
  if (route === 'list-directory') {
    const directory = clean(url.searchParams.get('directory') ?? '')
    if (directory !== '/' && tree.get(directory) !== 'folder') return failure(daemon.missingStatus)
    return { json: listing(tree, directory) }
  }
  const { root = '', files = [] } = (body ?? {}) as { root?: string; files?: unknown[] }
  if (route === 'rename') {
    const [{ from, to }] = files as [{ from: string; to: string }]
    return rename(daemon, tree, clean(`${root}/${from}`), clean(`${root}/${to}`))
  }
  if (route !== 'delete') return null
  if (files.length === 0) return failure(422)
  for (const name of files as string[]) remove(tree, clean(`${root}/${name}`))
  return { status: 204 }
}

/** Renames an entry; never replaces the target, and ignores a missing source. */
function rename(daemon: FileDaemon, tree: Map<string, Kind>, from: string, to: string): DaemonAnswer {
  const names = [...from.split('/'), ...to.split('/')]
  if (names.some((name) => daemon.locked.has(name)))
    return { status: 403, json: { error: 'file access prohibited: denylist' } }
  if (tree.has(to)) return failure(400)
  if (to.startsWith(`${from}/`) || ancestors(to).some((path) => (tree.get(path) ?? 'folder') !== 'folder'))
    return failure(500)
  for (const path of ancestors(to)) tree.set(path, 'folder')
  const moved = [...tree].filter(([path]) => path === from || path.startsWith(`${from}/`))
  for (const [path, kind] of moved) {
    tree.delete(path)
    tree.set(to + path.slice(from.length), kind)
  }
  return { status: 204 }
}

const failure = (status: number): DaemonAnswer => ({ status, json: { error: `no: ${status}` } })

const clean = (path: string) => `/${path.split('/').filter(Boolean).join('/')}`

const ancestors = (path: string) =>
  path
    .split('/')
    .slice(1, -1)
    .map((_, at, names) => `/${names.slice(0, at + 1).join('/')}`)

function put(tree: Map<string, Kind>, path: string): void {
  const kind = path.endsWith('/') ? 'folder' : path.endsWith('@') ? 'link' : 'file'
  const at = clean(path.replace(/[/@]$/, ''))
  for (const above of ancestors(at)) tree.set(above, 'folder')
  tree.set(at, kind)
}

function remove(tree: Map<string, Kind>, path: string): void {
  const at = clean(path)
  for (const known of tree.keys()) if (known === at || known.startsWith(`${at}/`)) tree.delete(known)
}

/** Lists a folder: folders last, `symlink` always false. */
function listing(tree: Map<string, Kind>, directory: string) {
  const prefix = directory === '/' ? '/' : `${directory}/`
  return [...tree]
    .filter(([path]) => path.startsWith(prefix) && !path.slice(prefix.length).includes('/'))
    .map(([path, kind]) => entryOf(path.slice(prefix.length), kind))
    .toSorted((one, other) => Number(one.directory) - Number(other.directory))
}

function entryOf(name: string, kind: Kind) {
  const isFolder = kind === 'folder'
  return {
    name,
    created: '2026-01-02T03:04:05+02:00',
    modified: '2026-01-02T03:04:05+02:00',
    mode: { file: '-rw-r--r--', folder: 'drwxr-xr-x', link: 'Lrwxrwxrwx' }[kind],
    mode_bits: isFolder ? '755' : '644',
    size: isFolder ? 4096 : 12,
    directory: isFolder,
    file: !isFolder,
    symlink: false,
    mime: isFolder ? 'inode/directory' : 'text/plain; charset=utf-8',
  }
}
