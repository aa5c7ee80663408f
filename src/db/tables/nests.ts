import { pgTable, text } from 'drizzle-orm/pg-core'
import { id, randomUuid, times } from '../columns.ts'

/** Groups of eggs. */
export const nests = pgTable('nests', {
  ...id,
  uuid: randomUuid(),
  author: text().notNull(),
  name: text().notNull(),
  description: text(),
  ...times,
})
export type Nest = typeof nests.$inferSelect
