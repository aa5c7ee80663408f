import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, instant, randomUuid, times } from '../columns.ts'
import { roles } from './roles.ts'

/** Users, administrators included. */
export const users = pgTable(
  'users',
  {
    ...id,
    uuid: randomUuid(),
    externalId: text().unique(),
    /** Stored in lower case; part of the SFTP login name. */
    username: text().notNull(),
    email: text().notNull(),
    /** When a mailed link or an administrator proved the address; null while it is only claimed. */
    emailVerifiedAt: instant(),
    /** The address of a change that waits for its mailed link. Several accounts may wait for one address. */
    pendingEmail: text(),
    firstName: text().notNull(),
    lastName: text().notNull(),
    /** Scheme and parameters in front (`scrypt$…` or an imported `$2y$…`); null until a password is chosen. */
    passwordHash: text(),
    language: text().notNull().default('en'),
    rootAdmin: boolean().notNull().default(false),
    /** Makes an administrator of a user who is not root. */
    roleId: integer().references(() => roles.id),
    /** Since when the user may not sign in; null where they may. */
    signInSuspendedAt: instant(),
    /** Encrypted; set up but not enabled while `totpEnabledAt` is null. */
    totpSecret: text(),
    totpEnabledAt: instant(),
    /** The last accepted 30-second step: each works once. */
    totpLastStep: bigint({ mode: 'number' }),
    /** Object key of the custom picture. */
    avatarKey: text(),
    blurSensitiveData: boolean().notNull().default(false),
    /** Sessions with an older number are signed out. */
    authVersion: integer().notNull().default(0),
    /** Number of account API keys; at most 25. */
    apiKeyCount: integer().notNull().default(0),
    ...times,
  },
  (t) => [
    uniqueIndex('users_username_index').on(sql`lower(${t.username})`),
    uniqueIndex('users_email_index').on(sql`lower(${t.email})`),
    index('users_role_index')
      .on(t.roleId)
      .where(sql`${t.roleId} is not null`),
    index('users_pending_email_index')
      .on(sql`lower(${t.pendingEmail})`)
      .where(sql`${t.pendingEmail} is not null`),
    index('users_search_index').using(
      'gin',
      t.email.op('gin_trgm_ops'),
      t.username.op('gin_trgm_ops'),
      t.externalId.op('gin_trgm_ops'),
      sql`(${t.uuid}::text) gin_trgm_ops`,
    ),
    check('users_external_id_length', sql`length(${t.externalId}) between 1 and 255`),
    check('users_api_key_count', sql`${t.apiKeyCount} between 0 and 25`),
  ],
)
export type User = typeof users.$inferSelect
