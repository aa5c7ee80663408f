import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant, times } from '../columns.ts'
import { users } from './users.ts'

/** Resources of the Application API and the access level a key holds on each. 0 none, 1 read, 2 write, 3 both. */
export const aclResources = [
  'servers',
  'users',
  'administrators',
  'nodes',
  'locations',
  'allocations',
  'nests',
  'eggs',
  'database_hosts',
  'server_databases',
  'settings',
  'jobs',
  'api_keys',
  'activity',
  'mounts',
  'announcements',
  'webhooks',
] as const
export type AclResource = (typeof aclResources)[number]
export type Acl = Partial<Record<AclResource, 0 | 1 | 2 | 3>>

/** Client (account) and Application keys. */
export const apiKeys = pgTable(
  'api_keys',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    type: text({ enum: ['account', 'application'] }).notNull(),
    /** The first 16 characters of the bearer token. */
    identifier: text().notNull().unique(),
    /** SHA-256 of the other 32 characters, in hex: they are random enough for a plain hash. */
    secretHash: text().notNull(),
    description: text().notNull().default(''),
    /** Addresses and CIDR ranges; empty allows every address. */
    allowedIps: text().array().notNull().default([]),
    /** Levels of an Application key, as `effectiveAcl` reads them; account keys have none. */
    acl: jsonb().notNull().$type<Acl>().default({}),
    lastUsedAt: instant(),
    expiresAt: instant(),
    ...times,
  },
  (t) => [
    index().on(t.userId),
    index('api_keys_application_index')
      .on(t.id)
      .where(sql`${t.type} = 'application'`),
    check('api_keys_type', sql`${t.type} in ('account', 'application')`),
    check('api_keys_identifier_length', sql`length(${t.identifier}) = 16`),
    check('api_keys_allowed_ips', sql`cardinality(${t.allowedIps}) <= 1000`),
    check('api_keys_description_length', sql`length(${t.description}) <= 65535`),
  ],
)
export type ApiKey = typeof apiKeys.$inferSelect
