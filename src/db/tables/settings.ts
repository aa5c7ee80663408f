import { jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { times } from '../columns.ts'

/** Settings that an administrator changed; a missing key has its default. */
export const settings = pgTable('settings', {
  key: text().primaryKey(),
  value: jsonb().notNull().$type<unknown>(),
  ...times,
})
export type Setting = typeof settings.$inferSelect
