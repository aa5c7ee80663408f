import { jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/** Panels on Node over this database, each with what all of them must share; an unlogged table. */
export const panelInstances = pgTable('panel_instances', {
  /** Made of the machine and its data directory. */
  id: text().primaryKey(),
  machine: text().notNull(),
  /** Fingerprints of the keys, the one that encrypts first. */
  keys: jsonb().$type<string[]>().notNull(),
  cache: text().notNull(),
  objects: text().notNull(),
  seenAt: instant().notNull(),
})
