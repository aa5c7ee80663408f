import type { DaemonAnswer, DaemonCall } from './stub-daemon.ts'

/** Text of a file, null for a folder, or the letters in front of the rights of anything else (`L`, `p`). */
export type FileTree = Map<string, string | null | { letter: string }>

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/'
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const fault = { status: 500, json: { error: 'An unexpected error was encountered.' } }
const done = { status: 204 }
const refused = (error: string) => ({ status: 400, json: { error } })

/** Creates a handler that serves the files as Wings 1.11 does, with its statuses. Wings: docs/wings.md#file-routes */
export function answerFiles(tree: FileTree) {
  const isFolder = (path: string) => path === '/' || tree.get(path) === null
  const below = (path: string) => [...tree.keys()].filter((each) => each.startsWith(`${path}/`))
  const join = (root: string, name: string) => `/${root}/${name}`.replace(/\/+/g, '/')
  const answers: Record<string, (query: URLSearchParams, call: DaemonCall) => DaemonAnswer> = {
    'list-directory': (query) => {
      const directory = query.get('directory') ?? ''
      if (!isFolder(directory)) return fault
      const inside = [...tree.keys()].filter((path) => parentOf(path) === directory)
      return { json: inside.toReversed().map((path) => describe(path, tree)) }
    },
    contents: (query) => {
      const content = tree.get(query.get('file') ?? '')
      if (content === null) return { text: '', headers: { 'content-length': '4096' }, cut: true }
      return typeof content === 'string' ? { text: content } : fault
    },
    write: (query, { body }) => {
      const file = query.get('file') ?? ''
      if (isFolder(file)) return refused('Cannot write to a folder.')
      if (!isFolder(parentOf(file)) && tree.has(parentOf(file))) return fault
      tree.set(file, body ?? '')
      return done
    },
    rename: (_query, { body }) => {
      let answer: DaemonAnswer = done
      for (const { from, to } of body.files) {
        const [source, target] = [join(body.root, from), join(body.root, to)]
        if (source === target || !tree.has(source)) continue
        if (tree.has(target)) {
          answer = refused('Cannot move or rename file, destination already exists.')
          continue
        }
        for (const path of [source, ...below(source)]) {
          tree.set(target + path.slice(source.length), tree.get(path) ?? null)
          tree.delete(path)
        }
      }
      return answer
    },
    copy: (_query, { body }) => (typeof tree.get(body.location) === 'string' ? done : fault),
    delete: (_query, { body }) => {
      for (const name of body.files) {
        const path = join(body.root, name)
        for (const each of [path, ...below(path)]) tree.delete(each)
      }
      return done
    },
    'create-directory': (_query, { body }) => {
      const path = join(body.path, body.name)
      if (tree.has(path) && !isFolder(path)) return fault
      if (tree.has(body.path) && !isFolder(body.path)) return fault
      tree.set(path, null)
      return done
    },
    chmod: () => done,
    compress: () => ({ json: describe('/archive-1.tar.gz', new Map([['/archive-1.tar.gz', 'xy']])) }),
    decompress: (_query, { body }) => {
      const content = tree.get(join(body.root, body.file))
      if (typeof content !== 'string') return fault
      return content === 'archive'
        ? done
        : refused('The archive provided is in a format Wings does not know.')
    },
    pull: (_query, { body }) => (body.foreground ? { json: {} } : { status: 202, json: { identifier: 'x' } }),
  }
  return (call: DaemonCall): DaemonAnswer => {
    const url = new URL(call.path, 'http://daemon')
    return answers[nameOf(url.pathname)]?.(url.searchParams, call) ?? { status: 404 }
  }
}

/** Describes a file as Wings does, which never sets `symlink`. Wings: docs/wings.md#file-object */
function describe(path: string, tree: FileTree) {
  const content = tree.get(path)
  const directory = content === null
  const letter = directory ? 'd' : typeof content === 'object' ? content.letter : '-'
  return {
    name: nameOf(path),
    created: '2026-03-01T12:00:00+02:00',
    modified: '2026-03-02T12:00:00Z',
    mode: directory ? `${letter}rwxr-xr-x` : `${letter}rw-r--r--`,
    mode_bits: directory ? '755' : '644',
    size: typeof content === 'string' ? Buffer.byteLength(content) : 4096,
    directory,
    file: !directory,
    symlink: false,
    mime: directory ? 'inode/directory' : 'text/plain; charset=utf-8',
  }
}
