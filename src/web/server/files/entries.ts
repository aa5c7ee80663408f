import type { FileEntry } from '../../api/files.ts'

export type Kind = 'folder' | 'file' | 'link' | 'special'

/** What an entry is. Pipes, sockets and devices count as files for the panel; their mode tells. */
export function kindOf(entry: FileEntry): Kind {
  if (entry.is_symlink) return 'link'
  if (!entry.is_file) return 'folder'
  return /[pSDc?]/.test(entry.mode.slice(0, -9)) ? 'special' : 'file'
}

/** Bytes of the largest file that is shown or written as text. */
export const editableBytes = 4 * 1024 * 1024

/** Whether a node can unpack it, by its name. */
export const isArchive = (entry: FileEntry): boolean =>
  kindOf(entry) === 'file' &&
  /\.(zip|tar|tgz|tbz2?|txz|tzst|rar|7z|(tar\.)?(gz|bz2|xz|zst|lz4|br))$/i.test(entry.name)

export const sortKeys = ['name', 'size', 'modified_at'] as const
export type Sort = { by: (typeof sortKeys)[number]; isDescending: boolean }

const names = new Intl.Collator(undefined, { numeric: true })

/** Entries whose name holds the text, folders first, each kind in the order that was asked for. */
export function arrange(entries: readonly FileEntry[], filter: string, sort: Sort): FileEntry[] {
  const wanted = filter.trim().toLowerCase()
  const direction = sort.isDescending ? -1 : 1
  const byKey = (one: FileEntry, other: FileEntry) => {
    if (sort.by === 'size') return one.size - other.size
    return sort.by === 'name' ? 0 : Date.parse(one.modified_at) - Date.parse(other.modified_at)
  }
  return entries
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .toSorted(
      (one, other) =>
        Number(one.is_file) - Number(other.is_file) ||
        direction * (byKey(one, other) || names.compare(one.name, other.name)),
    )
}
