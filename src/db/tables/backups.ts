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
    /** When the node was told to make it: told once, whatever became of the answer. */
    dispatchedAt: instant(),
    /** The same for the restoration that is under way, or was the last one. */
    restoreDispatchedAt: instant(),
    /** The step of a schedule's run that asked for it: at most one backup each. */
    stepId: integer()
      .unique()
      .references(() => scheduleSteps.id, { onDelete: 'set null' }),
    /** `<type>:<hex>`. */
    checksum: text(),
    bytes: bigint({ mode: 'number' }).notNull().default(0),
    completedAt: instant(),
    /** Set once its removal has begun; it counts no more. */
    deletingAt: instant(),
    ...times,
  },
  (t) => [
    index().on(t.serverId, t.createdAt),
    index('backups_running_index')
      .on(t.createdAt)
      .where(sql`${t.completedAt} is null`),
  ],
)
export type Backup = typeof backups.$inferSelect
