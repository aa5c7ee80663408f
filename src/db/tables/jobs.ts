import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, times } from '../columns.ts'

/** Work to be done after a commit, whatever happens to the process that committed. */
export const jobs = pgTable(
  'jobs',
  {
    id: uuid().primaryKey().defaultRandom(),
    name: text().notNull(),
    /** Ids only. */
    payload: jsonb().notNull().$type<Record<string, unknown>>(),
    /** At most one waiting job holds a key; null allows any number. */
    key: text(),
    state: text({ enum: ['waiting', 'done', 'dead'] })
      .notNull()
      .default('waiting'),
    runAt: instant().notNull().defaultNow(),
    attempts: integer().notNull().default(0),
    /** After this instant it is given up. */
    deadlineAt: instant().notNull(),
    /** Until then one worker holds it. */
    leasedUntil: instant(),
    /** Grows with each claim: a worker whose lease ran out cannot finish the job of its successor. */
    fence: integer().notNull().default(0),
    lastError: text(),
    finishedAt: instant(),
    ...times,
  },
  (t) => [
    index('jobs_due_index')
      .on(t.runAt)
      .where(sql`${t.state} = 'waiting'`),
    uniqueIndex('jobs_key_index')
      .on(t.key)
      .where(sql`${t.state} = 'waiting'`),
    index().on(t.finishedAt),
    index('jobs_dead_index')
      .on(t.finishedAt)
      .where(sql`${t.state} = 'dead'`),
    check('jobs_state', sql`${t.state} in ('waiting', 'done', 'dead')`),
  ],
)
export type Job = typeof jobs.$inferSelect
