import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, times } from '../columns.ts'

/** Work to do after a commit, whatever happens to the process that committed. */
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
    /** The job is abandoned after this time. */
    deadlineAt: instant().notNull(),
    /** Until then one worker holds its lease. */
    leasedUntil: instant(),
    /** Increases with each claim: a worker whose lease has expired cannot finish its successor's job. */
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
    index('jobs_listed_index').on(t.finishedAt.desc().nullsFirst(), t.runAt, t.id),
    index().on(t.name, t.finishedAt),
    index('jobs_dead_index')
      .on(t.finishedAt)
      .where(sql`${t.state} = 'dead'`),
    check('jobs_state', sql`${t.state} in ('waiting', 'done', 'dead')`),
  ],
)
export type Job = typeof jobs.$inferSelect
