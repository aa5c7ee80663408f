import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core'
import { id, instant } from '../columns.ts'
import { scheduleRuns } from './schedule-runs.ts'
import { tasks } from './tasks.ts'

/** Tasks within a run, as they were when the run began. */
export const scheduleSteps = pgTable(
  'schedule_steps',
  {
    ...id,
    runId: uuid()
      .notNull()
      .references(() => scheduleRuns.id, { onDelete: 'cascade' }),
    taskId: integer().references(() => tasks.id, { onDelete: 'set null' }),
    sequenceId: integer().notNull(),
    action: text({ enum: ['command', 'power', 'backup'] }).notNull(),
    payload: text().notNull().default(''),
    /** Seconds after the previous step. */
    timeOffset: integer().notNull().default(0),
    continueOnFailure: boolean().notNull().default(false),
    state: text({ enum: ['pending', 'dispatched', 'succeeded', 'failed', 'unknown', 'skipped'] })
      .notNull()
      .default('pending'),
    reason: text(),
    dueAt: instant(),
    /** Set before the daemon is called: an action that is not idempotent is never sent twice. */
    dispatchedAt: instant(),
    finishedAt: instant(),
  },
  (t) => [
    unique().on(t.runId, t.sequenceId),
    index().on(t.taskId),
    check('schedule_steps_action', sql`${t.action} in ('command', 'power', 'backup')`),
    check(
      'schedule_steps_state',
      sql`${t.state} in ('pending', 'dispatched', 'succeeded', 'failed', 'unknown', 'skipped')`,
    ),
  ],
)
export type ScheduleStep = typeof scheduleSteps.$inferSelect
