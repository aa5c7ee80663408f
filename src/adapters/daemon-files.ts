import { readBytes, readJsonArray } from './daemon-body.ts'
import { call, type DaemonTarget, requestJson, send } from './daemon-http.ts'

/** A file as a daemon describes it; any field may be missing. Times are RFC 3339 in the time zone of the daemon. */
export type DaemonFile = {
  name?: string
  created?: string
  modified?: string
  /** As `ls -l` writes it; the first letter is `d` for folders and `L` for links. */
  mode?: string
  /** Octal digits. */
  mode_bits?: string
  size?: number
  directory?: boolean
  file?: boolean
  symlink?: boolean
  mime?: string
}

/** Entries of a folder that a daemon lists, at most; others are left out. */
export const maxListedEntries = 10_000

/** The entries of a folder, in no order; anything may be among them. */
export type DaemonFolder = { entries: (DaemonFile | null)[]; isTruncated: boolean }

export type PullRequest = {
  url: string
  directory: string
  fileName?: string
  useHeader?: boolean
  foreground?: boolean
}

/** Files of one server on its node. Paths are absolute, below the root of the server. */
export type DaemonFiles = {
  /**
   * Lists a folder, in no order, up to 10,000 entries. Older daemons answer 500 for a missing one.
   * Wings: GET …/files/list-directory
   */
  list: (directory: string) => Promise<DaemonFolder>
  /**
   * Finds the entries of a folder with these names, however many others there are, and reads no further than the last
   * of them. Wings: GET …/files/list-directory
   */
  find: (directory: string, names: readonly string[]) => Promise<DaemonFile[]>
  /**
   * Reads a file; null when the daemon announces more than `maxBytes`. For a folder the body of older daemons ends
   * early. Wings: GET …/files/contents
   */
  read: (file: string, maxBytes: number) => Promise<Uint8Array<ArrayBuffer> | null>
  /** Creates or replaces a file, and creates its folders. Wings: POST …/files/write */
  write: (file: string, content: string | Uint8Array<ArrayBuffer>) => Promise<void>
  /**
   * Moves files and folders; 204 also for missing ones, 400 when a `to` exists. Tries several at once, and moves others
   * when one fails. Wings: PUT …/files/rename
   */
  rename: (moves: readonly { from: string; to: string }[]) => Promise<void>
  /** Copies a file to `x copy.ext` beside it. Wings: POST …/files/copy */
  copy: (file: string) => Promise<void>
  /** Deletes files and folders permanently; missing ones are fine. Wings: POST …/files/delete */
  remove: (directory: string, names: string[]) => Promise<void>
  /** Creates a folder and its parents, unless they exist. Wings: POST …/files/create-directory */
  createDirectory: (directory: string, name: string) => Promise<void>
  /** Sets a mode in octal digits; a missing file is fine. Wings: POST …/files/chmod */
  changeMode: (directory: string, name: string, mode: string) => Promise<void>
  /** Compresses files into an archive in the same folder, within `timeoutMs`. Wings: POST …/files/compress */
  compress: (directory: string, names: string[], timeoutMs: number) => Promise<DaemonFile>
  /** Extracts an archive over existing files; continues after a timeout. Wings: POST …/files/decompress */
  decompress: (directory: string, name: string, timeoutMs: number) => Promise<void>
  /** Downloads a file from a URL: within the call with `foreground`, otherwise in the background. Wings: POST …/files/pull */
  pull: (request: PullRequest, timeoutMs: number) => Promise<void>
}

/** Creates the calls for files of one server. */
export function httpDaemonFiles(target: DaemonTarget, uuid: string): DaemonFiles {
  const filesPath = (route: string) => `/api/servers/${uuid}/files/${route}`
  const queryParam = (name: string, value: string) => `${name}=${encodeURIComponent(value)}`
  const listPath = (directory: string) => filesPath(`list-directory?${queryParam('directory', directory)}`)
  return {
    list: (directory) => call(target, 'GET', listPath(directory), {}, listEntries),
    find: (directory, names) =>
      call(target, 'GET', listPath(directory), {}, (response) => findEntries(response, names)),
    read: (file, maxBytes) =>
      call(target, 'GET', filesPath(`contents?${queryParam('file', file)}`), {}, (response) =>
        readAnnounced(response, maxBytes),
      ),
    write: (file, content) =>
      send(target, 'POST', filesPath(`write?${queryParam('file', file)}`), { raw: content }),
    rename: (moves) =>
      send(target, 'PUT', filesPath('rename'), {
        json: { root: '/', files: moves.map(({ from, to }) => ({ from: from.slice(1), to: to.slice(1) })) },
      }),
    copy: (file) => send(target, 'POST', filesPath('copy'), { json: { location: file } }),
    remove: (root, files) => send(target, 'POST', filesPath('delete'), { json: { root, files } }),
    createDirectory: (path, name) =>
      send(target, 'POST', filesPath('create-directory'), { json: { path, name } }),
    changeMode: (root, file, mode) =>
      send(target, 'POST', filesPath('chmod'), { json: { root, files: [{ file, mode }] } }),
    compress: (root, files, timeoutMs) =>
      requestJson(target, 'POST', filesPath('compress'), { json: { root, files }, timeoutMs }),
    decompress: (root, file, timeoutMs) =>
      send(target, 'POST', filesPath('decompress'), { json: { root, file }, timeoutMs }),
    pull: ({ url, directory, fileName, useHeader, foreground }, timeoutMs) =>
      send(target, 'POST', filesPath('pull'), {
        json: {
          url,
          root: directory,
          ...(fileName === undefined ? {} : { file_name: fileName }),
          ...(useHeader === undefined ? {} : { use_header: useHeader }),
          ...(foreground === undefined ? {} : { foreground }),
        },
        ...(foreground ? { timeoutMs } : {}),
      }),
  }
}

async function listEntries(response: Response): Promise<DaemonFolder> {
  const entries: DaemonFolder['entries'] = []
  for await (const batch of readJsonArray(response)) {
    for (const entry of batch as DaemonFolder['entries']) {
      if (entries.length === maxListedEntries) return { entries, isTruncated: true }
      entries.push(entry)
    }
  }
  return { entries, isTruncated: false }
}

async function findEntries(response: Response, names: readonly string[]): Promise<DaemonFile[]> {
  const missing = new Set<unknown>(names)
  const found: DaemonFile[] = []
  for await (const batch of readJsonArray(response)) {
    for (const entry of batch as (DaemonFile | null)[]) {
      if (entry && missing.delete(entry.name)) found.push(entry)
    }
    if (missing.size === 0) break
  }
  return found
}

async function readAnnounced(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!(Number(response.headers.get('content-length')) > maxBytes)) return readBytes(response, maxBytes)
  await response.body?.cancel()
  return null
}
