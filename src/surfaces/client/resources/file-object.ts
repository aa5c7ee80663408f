import * as z from 'zod'
import type { FileEntry } from '../../../domain/files/listing.ts'
import { resource, Timestamp, timestamp } from '../../../http/resource.ts'

/** One thing in a folder of a server. Bytes, octal digits as text. */
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
