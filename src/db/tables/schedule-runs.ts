import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { schedules } from './schedules.ts'
import { users } from './users.ts'

/** Runs of schedules. A due time is claimed by inserting its row, of which there is at most one. */
export const scheduleRuns = pgTable(
  'schedule_runs',
  {
    id: uuid().primaryKey().defaultRandom(),
    scheduleId: integer()
      .notNull()
      .references(() => schedules.id, { onDelete: 'cascade' }),
    trigger: text({ enum: ['cron', 'manual'] }).notNull(),
    dueAt: instant().notNull(),
    state: text({ enum: ['running', 'succeeded', 'failed', 'skipped'] })
      .notNull()
      .default('running'),
    /** Why it failed or was skipped. */
    reason: text(),
    /** The user who started a manual run. */
    requestedBy: integer().references(() => users.id, { onDelete: 'set null' }),
    startedAt: instant().notNull().defaultNow(),
    finishedAt: instant(),
  },
  (t) => [
    uniqueIndex('schedule_runs_due_index')
      .on(t.scheduleId, t.dueAt)
      .where(sql`${t.trigger} = 'cron'`),
    index().on(t.scheduleId, t.startedAt),
    index().on(t.requestedBy),
    index().on(t.finishedAt),
    index('schedule_runs_running_index')
      .on(t.startedAt)
      .where(sql`${t.state} = 'running'`),
    check('schedule_runs_trigger', sql`${t.trigger} in ('cron', 'manual')`),
    check('schedule_runs_state', sql`${t.state} in ('running', 'succeeded', 'failed', 'skipped')`),
  ],
)
export type ScheduleRun = typeof scheduleRuns.$inferSelect
