import { type DaemonAnswer, type DaemonCall, startStubDaemon, type StubDaemon } from './stub-daemon.ts'

type Kind = 'file' | 'folder' | 'link'

/** The same in the middle of a call, before it is done; null lets it go on. */
type Interference = (call: FileCall) => DaemonAnswer | null

/** A call of the file routes: `route` is its last word, `query` that of the address. */
export type FileCall = DaemonCall & { route: string; query: URLSearchParams }

/** A daemon with one tree of files for whichever server it is asked about. */
export type FileDaemon = StubDaemon & {
  /** Puts things there, and the folders above them: a name that ends in `/` is a folder, one in `@` a link. */
  put: (...paths: string[]) => void
  /** Takes things away, with all below. */
  take: (...paths: string[]) => void
  /** Every path, sorted; folders end in `/`, links in `@`. */
  paths: () => string[]
  /** Empties the tree and lifts everything that was set. */
  reset: () => void
  /** Names that the egg locks. */
  locked: Set<string>
  /** Answers in place of the daemon, or does something before it answers. */
  interfere: (interference: Interference | null) => void
  /** Status for folders that are missing: 500 as with stock Wings, 404 as with newer ones. */
  missingStatus: number
}

/** A stand-in for the files of stock Wings, with its oddities, in memory. Wings: …/files/{list-directory,rename,delete} */
export async function startFileDaemon(): Promise<FileDaemon> {
  const tree = new Map<string, Kind>()
  const stub = await startStubDaemon()
  let interference: Interference | null = null
  const daemon: FileDaemon = Object.assign(stub, {
    locked: new Set<string>(),
    missingStatus: 500,
    put: (...paths: string[]) => paths.forEach((path) => put(tree, path)),
    take: (...paths: string[]) => paths.forEach((path) => take(tree, path)),
    paths: () =>
      [...tree].map(([path, kind]) => path + suffixes[kind]).toSorted((one, other) => (one < other ? -1 : 1)),
    reset: () => {
      tree.clear()
      daemon.locked.clear()
      daemon.missingStatus = 500
      stub.calls.length = 0
      interference = null
      stub.respond(answer)
    },
    interfere: (next: Interference | null) => void (interference = next),
  })
  const answer = (call: DaemonCall): DaemonAnswer | null => {
    const url = new URL(call.path, 'http://daemon.test')
    const [, route] = /\/files\/([\w-]+)$/.exec(url.pathname) ?? []
    if (route === undefined) return null
    return (
      interference?.({ ...call, route, query: url.searchParams }) ??
      fileAnswer(daemon, tree, route, url, call)
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
  for (const name of files as string[]) take(tree, clean(`${root}/${name}`))
  return { status: 204 }
}

/** What is at the target is never replaced; what is missing is passed over. */
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

function take(tree: Map<string, Kind>, path: string): void {
  const at = clean(path)
  for (const known of tree.keys()) if (known === at || known.startsWith(`${at}/`)) tree.delete(known)
}

/** Folders last, `symlink` always false. */
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
