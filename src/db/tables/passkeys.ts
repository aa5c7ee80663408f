import { bigint, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant, times } from '../columns.ts'
import { users } from './users.ts'

/** WebAuthn credentials. */
export const passkeys = pgTable(
  'passkeys',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** Base64url, as the authenticator gave it. */
    credentialId: text().notNull().unique(),
    /** COSE key in base64url. */
    publicKey: text().notNull(),
    /** Signature counter; a lower one is refused. */
    counter: bigint({ mode: 'number' }).notNull().default(0),
    transports: text().array().notNull().default([]),
    /** Base64url of what the authenticator knows the account by. Null is its uuid; another panel chose otherwise. */
    userHandle: text(),
    lastUsedAt: instant(),
    ...times,
  },
  (t) => [index().on(t.userId)],
)
export type Passkey = typeof passkeys.$inferSelect
