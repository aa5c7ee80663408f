import * as z from 'zod'
import type { Backup } from '../../../db/tables/backups.ts'
import type { BackupPage } from '../../../domain/backups/backups.ts'
import {
  paginationOf,
  PaginationShape,
  resource,
  Timestamp,
  timestamp,
  timestampOrNull,
} from '../../../http/resource.ts'

/** A backup: running while `completed_at` is null, failed when completed without success; `bytes` once it succeeded. */
const Attributes = () =>
  z.object({
    uuid: z.uuid(),
    is_successful: z.boolean(),
    is_locked: z.boolean(),
    name: z.string(),
    ignored_files: z.array(z.string()),
    checksum: z.string().nullable(),
    bytes: z.int(),
    created_at: Timestamp(),
    completed_at: Timestamp().nullable(),
  })

export const BackupResource = resource('backup', Attributes, (backup: Backup) => ({
  uuid: backup.uuid,
  is_successful: backup.isSuccessful,
  is_locked: backup.isLocked,
  name: backup.name,
  ignored_files: backup.ignoredFiles,
  checksum: backup.checksum,
  bytes: backup.bytes,
  created_at: timestamp(backup.createdAt),
  completed_at: timestampOrNull(backup.completedAt),
}))

/** A backup with its notes, if there are any. */
export const BackupWithMeta = () =>
  z.object({
    object: z.literal('backup'),
    attributes: Attributes(),
    meta: z.object({ notes: z.string() }).optional(),
  })

export const presentBackup = (backup: Backup): z.output<ReturnType<typeof BackupWithMeta>> => ({
  object: 'backup',
  attributes: BackupResource.attributes(backup),
  ...(backup.notes === null ? {} : { meta: { notes: backup.notes } }),
})

/** A page of backups; `backup_count` is how many count towards the server's limit, on all pages. */
export const BackupList = () =>
  z.object({
    object: z.literal('list'),
    data: z.array(BackupWithMeta()),
    meta: z.object({ backup_count: z.int(), pagination: PaginationShape() }),
  })

export const presentBackups = (page: BackupPage, url: string) => ({
  object: 'list' as const,
  data: page.rows.map(presentBackup),
  meta: { backup_count: page.backupCount, pagination: paginationOf(page, url) },
})
