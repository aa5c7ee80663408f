import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant, randomUuid, times } from '../columns.ts'
import { scheduleSteps } from './schedule-steps.ts'
import { servers } from './servers.ts'

/** Archives of a server's files. Running while `completedAt` is null; failed when completed without success. */
export const backups = pgTable(
  'backups',
  {
    ...id,
    uuid: randomUuid(),
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    ignoredFiles: text().array().notNull().default([]),
    /** `wings` on the node, `s3` in the object store. */
    disk: text().notNull(),
    /** The open multipart upload in the object store. */
    uploadId: text(),
    isSuccessful: boolean().notNull().default(false),
    isLocked: boolean().notNull().default(false),
    isScheduled: boolean().notNull().default(false),
    /** When the backup was sent to the node: only once, whatever the answer. */
    dispatchedAt: instant(),
    /** When the current or last restoration was sent to the node. */
    restoreDispatchedAt: instant(),
    /** The step of a schedule's run that requested it: at most one backup each. */
    stepId: integer()
      .unique()
      .references(() => scheduleSteps.id, { onDelete: 'set null' }),
    /** `<type>:<hex>`. */
    checksum: text(),
    bytes: bigint({ mode: 'number' }).notNull().default(0),
    completedAt: instant(),
    /** What users wrote about it. */
    notes: text(),
    /** Set when its removal begins; it no longer counts towards the limit. */
    deletingAt: instant(),
    ...times,
  },
  (t) => [
    index().on(t.serverId, t.createdAt),
    index('backups_running_index')
      .on(t.createdAt)
      .where(sql`${t.completedAt} is null`),
    index('backups_failed_index')
      .on(t.completedAt)
      .where(sql`${t.completedAt} is not null and not ${t.isSuccessful}`),
  ],
)
export type Backup = typeof backups.$inferSelect
