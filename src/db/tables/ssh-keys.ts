import { integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { users } from './users.ts'

/** Public keys for SFTP. */
export const sshKeys = pgTable(
  'ssh_keys',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** Base64 of the key's SHA-256 without prefix and padding. */
    fingerprint: text().notNull(),
    publicKey: text().notNull(),
    ...times,
  },
  (t) => [unique().on(t.userId, t.fingerprint)],
)
export type SshKey = typeof sshKeys.$inferSelect
