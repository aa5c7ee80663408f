import type { FileEntry } from '../../api/files.ts'

export type EntryKind = 'folder' | 'file' | 'link' | 'special'

/** Returns the kind of an entry. The panel lists pipes, sockets and devices as files; their mode tells. */
export function kindOf(entry: FileEntry): EntryKind {
  if (entry.is_symlink) return 'link'
  if (!entry.is_file) return 'folder'
  return /[pSDc?]/.test(entry.mode.slice(0, -9)) ? 'special' : 'file'
}

/** The largest file that can be edited as text. */
export const maxEditableBytes = 4 * 1024 * 1024

/** Whether the name is one of an archive. */
export const isArchiveName = (name: string): boolean =>
  /\.(zip|tar|tgz|tbz2?|txz|tzst|rar|7z|(tar\.)?(gz|bz2|xz|zst|lz4|br))$/i.test(name)

/** Whether a node can unpack the file, by its extension. */
export const isArchive = (entry: FileEntry): boolean => kindOf(entry) === 'file' && isArchiveName(entry.name)

/** Returns how a file is shown that is no text, by its name; null when it is opened in the editor. */
export function previewOf(name: string): 'image' | 'zip' | 'tar' | 'gzip' | null {
  if (/\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i.test(name)) return 'image'
  if (/\.(zip|jar|mcpack|mcworld|mrpack)$/i.test(name)) return 'zip'
  if (/\.(tar|tgz|tar\.gz)$/i.test(name)) return 'tar'
  return /\.gz$/i.test(name) ? 'gzip' : null
}

export const sortKeys = ['name', 'size', 'modified_at'] as const
export type Sort = { by: (typeof sortKeys)[number]; isDescending: boolean }

const nameCollator = new Intl.Collator(undefined, { numeric: true })

/** Returns the entries whose names contain the text: folders first, then by the sort order. */
export function filterAndSort(entries: readonly FileEntry[], filter: string, sort: Sort): FileEntry[] {
  const text = filter.trim().toLowerCase()
  const direction = sort.isDescending ? -1 : 1
  const byKey = (one: FileEntry, other: FileEntry) => {
    if (sort.by === 'size') return one.size - other.size
    return sort.by === 'name' ? 0 : Date.parse(one.modified_at) - Date.parse(other.modified_at)
  }
  return entries
    .filter(({ name }) => name.toLowerCase().includes(text))
    .toSorted(
      (one, other) =>
        Number(one.is_file) - Number(other.is_file) ||
        direction * (byKey(one, other) || nameCollator.compare(one.name, other.name)),
    )
}
