import { ask, call, type DaemonTarget, tell } from './daemon-http.ts'

/** A file as a daemon describes it; it may leave out anything. Times are RFC 3339 in the daemon's own zone. */
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

export type PullRequest = {
  url: string
  directory: string
  fileName?: string
  useHeader?: boolean
  foreground?: boolean
}

/** Files of one server on its node. Paths are absolute, below the root of the server. */
export type DaemonFiles = {
  /** What a folder holds, in no order. Older daemons answer 500 when there is none. Wings: GET …/files/list-directory */
  list: (directory: string) => Promise<DaemonFile[]>
  /** The bytes of a file. A folder breaks off in the middle with older daemons. Wings: GET …/files/contents */
  read: (file: string) => Promise<Response>
  /** Replaces or makes a file, and the folders above it. Wings: POST …/files/write */
  write: (file: string, content: string | Uint8Array<ArrayBuffer>) => Promise<void>
  /** Moves one thing; 204 also when it is missing, 400 when something is at `to`. Wings: PUT …/files/rename */
  rename: (from: string, to: string) => Promise<void>
  /** Makes `x copy.ext` beside a file. Wings: POST …/files/copy */
  copy: (file: string) => Promise<void>
  /** Removes things for good; missing ones are fine. Wings: POST …/files/delete */
  remove: (directory: string, names: string[]) => Promise<void>
  /** The folder is there, with those above it. Wings: POST …/files/create-directory */
  createDirectory: (directory: string, name: string) => Promise<void>
  /** Octal digits; a missing file is fine. Wings: POST …/files/chmod */
  changeMode: (directory: string, name: string, mode: string) => Promise<void>
  /** Packs things into an archive in the same folder, which takes up to `patience` milliseconds. Wings: POST …/files/compress */
  compress: (directory: string, names: string[], patience: number) => Promise<DaemonFile>
  /** Unpacks an archive over what is there; it goes on when nobody waits. Wings: POST …/files/decompress */
  decompress: (directory: string, name: string, patience: number) => Promise<void>
  /** Fetches a file from elsewhere: at once with `foreground`, else by itself. Wings: POST …/files/pull */
  pull: (request: PullRequest, patience: number) => Promise<void>
}

export function httpDaemonFiles(target: DaemonTarget, uuid: string): DaemonFiles {
  const at = (route: string) => `/api/servers/${uuid}/files/${route}`
  const of = (name: string, value: string) => `${name}=${encodeURIComponent(value)}`
  return {
    list: (directory) => ask(target, 'GET', at(`list-directory?${of('directory', directory)}`)),
    read: (file) => call(target, 'GET', at(`contents?${of('file', file)}`)),
    write: (file, content) => tell(target, 'POST', at(`write?${of('file', file)}`), { raw: content }),
    rename: (from, to) =>
      tell(target, 'PUT', at('rename'), {
        json: { root: '/', files: [{ from: from.slice(1), to: to.slice(1) }] },
      }),
    copy: (file) => tell(target, 'POST', at('copy'), { json: { location: file } }),
    remove: (root, files) => tell(target, 'POST', at('delete'), { json: { root, files } }),
    createDirectory: (path, name) => tell(target, 'POST', at('create-directory'), { json: { path, name } }),
    changeMode: (root, file, mode) =>
      tell(target, 'POST', at('chmod'), { json: { root, files: [{ file, mode }] } }),
    compress: (root, files, patience) =>
      ask(target, 'POST', at('compress'), { json: { root, files }, patience }),
    decompress: (root, file, patience) =>
      tell(target, 'POST', at('decompress'), { json: { root, file }, patience }),
    pull: ({ url, directory, fileName, useHeader, foreground }, patience) =>
      tell(target, 'POST', at('pull'), {
        json: {
          url,
          root: directory,
          ...(fileName === undefined ? {} : { file_name: fileName }),
          ...(useHeader === undefined ? {} : { use_header: useHeader }),
          ...(foreground === undefined ? {} : { foreground }),
        },
        ...(foreground ? { patience } : {}),
      }),
  }
}
