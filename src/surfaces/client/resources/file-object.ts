import * as z from 'zod'
import type { FileEntry, FolderListing } from '../../../domain/files/listing.ts'
import { resource, Timestamp, timestamp } from '../../../http/resource.ts'

/** A file or folder of a server. Size in bytes, mode as octal digits. */
export const FileObject = resource(
  'file_object',
  () =>
    z.object({
      name: z.string(),
      mode: z.string(),
      mode_bits: z.string(),
      size: z.int(),
      is_file: z.boolean(),
      is_symlink: z.boolean(),
      mimetype: z.string(),
      created_at: Timestamp(),
      modified_at: Timestamp(),
    }),
  (entry: FileEntry) => ({
    name: entry.name,
    mode: entry.mode,
    mode_bits: entry.modeBits,
    size: entry.size,
    is_file: entry.kind !== 'folder',
    is_symlink: entry.kind === 'link',
    mimetype: entry.mimeType,
    created_at: timestamp(entry.createdAt),
    modified_at: timestamp(entry.modifiedAt),
  }),
)

/** Schema of a folder. `meta` is left out unless entries were. */
export const Folder = () =>
  FileObject.List().and(z.object({ meta: z.object({ truncated: z.literal(true) }).optional() }))

/** Presents a folder; `meta.truncated` says that it has more entries than the list. */
export const presentFolder = ({ entries, isTruncated }: FolderListing) => ({
  ...FileObject.list(entries),
  ...(isTruncated ? { meta: { truncated: true as const } } : {}),
})
