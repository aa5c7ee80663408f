import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { users } from './users.ts'

/** Who changed a setting last, and when; also of settings that have their default again. */
export const settingChanges = pgTable('setting_changes', {
  key: text().primaryKey(),
  /** Null for the command line, and for users who were deleted. */
  changedBy: integer().references(() => users.id, { onDelete: 'set null' }),
  changedAt: instant().notNull(),
})
