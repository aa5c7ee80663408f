import { boolean, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { eggs } from './eggs.ts'

/** Variables of an egg; a server's values are in `servers.variables`. */
export const eggVariables = pgTable(
  'egg_variables',
  {
    ...id,
    eggId: integer()
      .notNull()
      .references(() => eggs.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    description: text().notNull().default(''),
    envVariable: text().notNull(),
    defaultValue: text().notNull().default(''),
    userViewable: boolean().notNull().default(false),
    userEditable: boolean().notNull().default(false),
    /** Rules joined by `|`, as eggs write them. */
    rules: text().notNull().default(''),
    ...times,
  },
  (t) => [unique().on(t.eggId, t.envVariable)],
)
export type EggVariable = typeof eggVariables.$inferSelect
