import { sql } from 'drizzle-orm'
import { type AnyPgColumn, boolean, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { users } from './users.ts'

/** Data that a session keeps between two requests, by the feature that stores it. */
export type SessionData = {
  challenge?: {
    userId: number
    /** The account's value when the challenge began: a new password ends the challenge. */
    authVersion: number
    tokenHash: string
    expiresAt: string
    tries: number
    remember: boolean
  }
  passkey?: { challenge: string; purpose: 'login' | 'register' | 'setup'; expiresAt: string }
  /** The account of the set-up, for which a passkey is created. */
  setup?: { uuid: string }
  oauth?: {
    provider: string
    state: string
    verifier: string
    nonce: string
    purpose: 'login' | 'link'
    userId: number | null
    expiresAt: string
    /** Path of the panel that the user wanted before signing in. */
    intended?: string
  }
  /** Messages that are shown once. */
  notice?: string
  error?: string
  /** The encrypted confirmation token of a challenge that began at an OAuth provider. */
  oauthCheckpoint?: string
}

/** Browser sessions, including those of guests with a sign-in challenge. */
export const sessions = pgTable(
  'sessions',
  {
    /** SHA-256 of the cookie's value, in hex. */
    id: text().primaryKey(),
    userId: integer().references(() => users.id, { onDelete: 'cascade' }),
    /** The administrator who acts for the user in this session, and the session to which they return. */
    administratorId: integer().references(() => users.id, { onDelete: 'cascade' }),
    administratorSessionId: text().references((): AnyPgColumn => sessions.id, {
      onDelete: 'cascade',
      onUpdate: 'cascade',
    }),
    authVersion: integer().notNull().default(0),
    data: jsonb().notNull().$type<SessionData>().default({}),
    ip: text().notNull(),
    userAgent: text().notNull().default(''),
    isRemembered: boolean().notNull().default(false),
    createdAt: instant().notNull().defaultNow(),
    lastActiveAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    index().on(t.userId),
    index().on(t.expiresAt),
    index('sessions_administrator_index')
      .on(t.administratorId)
      .where(sql`${t.administratorId} is not null`),
    index('sessions_administrator_session_index')
      .on(t.administratorSessionId)
      .where(sql`${t.administratorSessionId} is not null`),
  ],
)
export type Session = typeof sessions.$inferSelect
