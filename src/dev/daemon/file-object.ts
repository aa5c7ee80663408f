import { constants, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import type { Profile } from './daemon.ts'

/** A file as Wings describes it; `created` is the time of the last change of the inode. Wings: docs/wings.md#file-object. */
export type FileObject = {
  name: string
  created: string
  modified: string
  mode: string
  mode_bits: string
  size: number
  directory: boolean
  file: boolean
  symlink: boolean
  mime: string
}

/** Flags for reading that do not follow a link and do not wait for the other end of a pipe. */
export const readableFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const headLength = 3_072

/** Describes a file. On 1.11 `symlink` is always false. */
export function describeFile(name: string, stats: Stats, mime: string, profile: Profile): FileObject {
  return {
    name,
    created: rfc3339(stats.ctime),
    modified: rfc3339(stats.mtime),
    mode: modeString(stats),
    mode_bits: (stats.mode & 0o777).toString(8),
    size: stats.size,
    directory: stats.isDirectory(),
    file: !stats.isDirectory(),
    symlink: profile !== '1.11' && stats.isSymbolicLink(),
    mime,
  }
}

/** Detects the MIME type of a file by its first bytes. Only regular files are opened. */
export async function sniffPath(path: string, stats: Stats): Promise<string> {
  if (stats.isDirectory()) return 'inode/directory'
  if (!stats.isFile()) return 'application/octet-stream'
  const handle = await open(path, readableFlags)
  try {
    return await sniffHandle(handle)
  } finally {
    await handle.close()
  }
}

/** Detects the MIME type of an open file by its first bytes. */
export async function sniffHandle(handle: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headLength), 0, headLength, 0)
  return mimeOf(buffer.subarray(0, bytesRead))
}

const signatures: [mime: string, offset: number, bytes: string][] = [
  ['image/png', 0, '\x89PNG\r\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['application/pdf', 0, '%PDF-'],
  ['application/gzip', 0, '\x1f\x8b'],
  ['application/jar', 30, 'META-INF/'],
  ['application/zip', 0, 'PK\x03\x04'],
  ['application/zip', 0, 'PK\x05\x06'],
  ['application/x-tar', 257, 'ustar'],
]

function mimeOf(head: Buffer): string {
  const known = signatures.find(([, at, bytes]) => head.toString('latin1', at, at + bytes.length) === bytes)
  if (known) return known[0]
  if (head.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27)))
    return 'application/octet-stream'
  return head.length < headLength && isJson(head.toString('utf8'))
    ? 'application/json'
    : 'text/plain; charset=utf-8'
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Formats a mode as Go does: `-rw-r--r--`, `drwxr-xr-x`, `Lrwxrwxrwx`. */
function modeString(stats: Stats): string {
  const kinds: [boolean, string][] = [
    [stats.isDirectory(), 'd'],
    [stats.isSymbolicLink(), 'L'],
    [stats.isBlockDevice() || stats.isCharacterDevice(), 'D'],
    [stats.isFIFO(), 'p'],
    [stats.isSocket(), 'S'],
    [(stats.mode & 0o4000) !== 0, 'u'],
    [(stats.mode & 0o2000) !== 0, 'g'],
    [stats.isCharacterDevice(), 'c'],
    [(stats.mode & 0o1000) !== 0, 't'],
  ]
  const kind = kinds.map(([applies, letter]) => (applies ? letter : '')).join('')
  const bits = 'rwxrwxrwx'
    .split('')
    .map((letter, at) => (stats.mode & (0o400 >> at) ? letter : '-'))
    .join('')
  return (kind || '-') + bits
}

/** Formats a time in whole seconds in the time zone of this machine. */
export function rfc3339(date: Date): string {
  const offset = -date.getTimezoneOffset()
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, 19)
  if (offset === 0) return `${local}Z`
  const two = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(offset % 60)}`
}
