import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant, times } from '../columns.ts'
import { servers } from './servers.ts'

/** Schedules of servers: five cron fields in the schedule's own time zone. */
export const schedules = pgTable(
  'schedules',
  {
    ...id,
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    cronMinute: text().notNull(),
    cronHour: text().notNull(),
    cronDayOfMonth: text().notNull(),
    cronMonth: text().notNull().default('*'),
    cronDayOfWeek: text().notNull(),
    /** IANA name of the time zone. */
    timezone: text().notNull().default('UTC'),
    isActive: boolean().notNull().default(false),
    isProcessing: boolean().notNull().default(false),
    onlyWhenOnline: boolean().notNull().default(false),
    lastRunAt: instant(),
    nextRunAt: instant(),
    ...times,
  },
  (t) => [
    index().on(t.serverId),
    index('schedules_due_index')
      .on(t.nextRunAt)
      .where(sql`${t.isActive} and not ${t.isProcessing}`),
  ],
)
export type Schedule = typeof schedules.$inferSelect
