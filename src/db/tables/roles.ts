import { sql } from 'drizzle-orm'
import { boolean, check, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import type { Acl } from './api-keys.ts'

/** Roles of administrators who are not root. */
export const roles = pgTable(
  'roles',
  {
    ...id,
    name: text().notNull(),
    description: text().notNull().default(''),
    /** Level for every resource that existed when it was written: 0 none, 1 read, 3 read and write. */
    acl: jsonb().notNull().$type<Acl>().default({}),
    /** Whether its holders must use two-factor authentication. */
    twoFactorRequired: boolean().notNull().default(false),
    ...times,
  },
  (t) => [
    uniqueIndex('roles_name_index').on(sql`lower(${t.name})`),
    check('roles_name_length', sql`length(${t.name}) between 1 and 255`),
    check('roles_description_length', sql`length(${t.description}) <= 191`),
  ],
)
export type Role = typeof roles.$inferSelect
