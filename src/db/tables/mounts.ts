import { sql } from 'drizzle-orm'
import { boolean, check, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, randomUuid, times } from '../columns.ts'

/** Folders of nodes that appear in the containers of servers. */
export const mounts = pgTable(
  'mounts',
  {
    ...id,
    uuid: randomUuid(),
    name: text().notNull(),
    description: text().notNull().default(''),
    /** Absolute path on the node. */
    source: text().notNull(),
    /** Absolute path in the container. */
    target: text().notNull(),
    readOnly: boolean().notNull().default(true),
    userMountable: boolean().notNull().default(false),
    ...times,
  },
  (t) => [
    uniqueIndex('mounts_name_index').on(sql`lower(${t.name})`),
    check('mounts_name_length', sql`length(${t.name}) between 1 and 191`),
    check('mounts_source_length', sql`length(${t.source}) between 1 and 191`),
    check('mounts_target_length', sql`length(${t.target}) between 1 and 191`),
  ],
)
export type Mount = typeof mounts.$inferSelect
