import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { schedules } from './schedules.ts'
import { users } from './users.ts'

/** Tasks of a schedule. A deferrable unique constraint keeps `sequence_id` unique while rows shift. */
export const tasks = pgTable(
  'tasks',
  {
    ...id,
    scheduleId: integer()
      .notNull()
      .references(() => schedules.id, { onDelete: 'cascade' }),
    sequenceId: integer().notNull(),
    action: text({ enum: ['command', 'power', 'backup'] }).notNull(),
    payload: text().notNull().default(''),
    /** Seconds after the previous task. */
    timeOffset: integer().notNull(),
    isQueued: boolean().notNull().default(false),
    continueOnFailure: boolean().notNull().default(false),
    /** Backups of schedules that stay once its own is complete; null leaves that to the server's limit. */
    keepBackups: integer(),
    /** Who last decided what it does or when it runs; null where that is not known. */
    editorId: integer().references(() => users.id, { onDelete: 'set null' }),
    ...times,
  },
  (t) => [
    index().on(t.editorId),
    check('tasks_action', sql`${t.action} in ('command', 'power', 'backup')`),
    check('tasks_time_offset', sql`${t.timeOffset} between 0 and 2147483647`),
    check('tasks_keep_backups', sql`${t.keepBackups} between 1 and 100`),
    check('tasks_sequence_id', sql`${t.sequenceId} >= 1`),
  ],
)
export type Task = typeof tasks.$inferSelect
