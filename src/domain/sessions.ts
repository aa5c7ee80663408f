import { and, eq, gt, isNotNull, lt, sql, type WithSubquery } from 'drizzle-orm'
import { type Database, prepared } from '../db/database.ts'
import { sessions, users } from '../db/schema.ts'
import type { Session } from '../db/tables/sessions.ts'
import type { User } from '../db/tables/users.ts'
import type { Panel } from '../panel.ts'
import { secondFactorSetting } from './second-factor-policy.ts'
import { digest, equalSecrets, randomText } from './secrets.ts'

/** Letters and digits of a session's token: more than 256 bits. */
const tokenLength = 48
/** Minutes after which a session that nobody used is over. */
const idleMinutes = 720
/** The same where somebody asked to stay signed in. */
const rememberedMinutes = 30 * 24 * 60
/** Minutes for which a guest's session lives: long enough for any challenge. */
const guestMinutes = 30

/** What a session remembers between two requests, by what put it there. */
export type SessionData = {
  challenge?: {
    userId: number
    /** Of the account when it was asked: a new password ends the challenge. */
    authVersion: number
    tokenHash: string
    expiresAt: string
    tries: number
    remember: boolean
  }
  passkey?: { challenge: string; purpose: 'login' | 'register'; expiresAt: string }
  oauth?: {
    provider: string
    state: string
    verifier: string
    nonce: string
    purpose: 'login' | 'link'
    userId: number | null
    expiresAt: string
    /** The path of ours that was wanted before signing in. */
    intended?: string
  }
  /** Shown once. */
  notice?: string
  error?: string
  /** Whether the challenge came from an OAuth provider, for the page that asks for the code. */
  oauthCheckpoint?: string
}

/** A session with its token, which only its cookie holds. */
export type OpenedSession = { token: string; remembered: boolean }

/** A token of a session that has no row yet: guests have one once something must be remembered. */
export const newSessionToken = (): string => randomText(tokenLength)

/** How the token of a session is stored. */
export const sessionId = (token: string): string => digest(`session ${token}`)

/** What forms of the session must show to prove that they are ours: it tells nothing of the token. */
export const csrfToken = (token: string): string => digest(`csrf ${token}`)

/** Whether forms of the session have shown it. */
export const isCsrfTokenOf =
  (token: string | null) =>
  (shown: string): boolean =>
    token !== null && equalSecrets(shown, csrfToken(token))

/** Whether a cookie's value can be a token. */
export const isSessionToken = (text: string): boolean => /^[A-Za-z0-9]{48}$/.test(text)

/** A session, the account that is signed in to it, and for whom a second factor is asked. */
export type FoundSession = { session: Session; user: User | null; required: unknown }

/**
 * The session of a token with the account that is signed in to it, or null when it is over: unused for 12
 * hours (30 days where somebody stays signed in), or of before the account's last change of password. Using it
 * keeps it alive. One statement. Spec: Authentication, 7.
 */
export async function findSession(panel: Panel, token: string): Promise<FoundSession | null> {
  const now = panel.now().toISOString()
  const [found] = await sessionStatement(panel.db).execute({ id: sessionId(token), now })
  return found ?? null
}

/** In whose browser a session begins, in place of which token's, and what else its statement does. */
type Opening = { userAgent: string; previous: string | null; alongside?: WithSubquery[] }

/** A new session of somebody who has proven who he is; the one before, of `previous`, is gone. One statement. */
export async function openSession(
  panel: Panel,
  user: Pick<User, 'id' | 'authVersion'>,
  options: Opening & { remember: boolean },
): Promise<OpenedSession> {
  const minutes = options.remember ? rememberedMinutes : idleMinutes
  const owner = { userId: user.id, authVersion: user.authVersion, isRemembered: options.remember }
  return { token: await storeSession(panel, owner, minutes, options), remembered: options.remember }
}

/** A new session of a guest with something to remember; the one before, of `previous`, is gone. One statement. */
export async function openGuestSession(
  panel: Panel,
  data: SessionData,
  options: Opening,
): Promise<OpenedSession> {
  return { token: await storeSession(panel, { data }, guestMinutes, options), remembered: false }
}

async function storeSession(
  panel: Panel,
  values: Partial<typeof sessions.$inferInsert>,
  minutes: number,
  { userAgent, previous, alongside = [] }: Opening,
): Promise<string> {
  const { db } = panel
  const token = newSessionToken()
  const now = panel.now()
  const closed = db.$with('closed').as(
    db
      .delete(sessions)
      .where(eq(sessions.id, sessionId(previous ?? '')))
      .returning({ id: sessions.id }),
  )
  await db
    .with(closed, ...alongside)
    .insert(sessions)
    .values({
      ...values,
      id: sessionId(token),
      ip: panel.ip,
      userAgent: userAgent.replace(/[^\P{C}]/gu, '').slice(0, 255),
      createdAt: now,
      lastActiveAt: now,
      expiresAt: new Date(now.getTime() + minutes * 60_000),
    })
  return token
}

/** The session of the token is over. */
export async function closeSession(panel: Panel, token: string): Promise<void> {
  await panel.db.delete(sessions).where(eq(sessions.id, sessionId(token)))
}

/** The session remembers this as well, in place of what it had under the same names; a guest's lives as long again. */
export async function rememberInSession(
  panel: Panel,
  session: Pick<Session, 'id'>,
  additions: SessionData,
): Promise<void> {
  const guestUntil = new Date(panel.now().getTime() + guestMinutes * 60_000).toISOString()
  await panel.db
    .update(sessions)
    .set({
      data: sql`${sessions.data} || ${JSON.stringify(additions)}::jsonb`,
      expiresAt: sql`greatest(${sessions.expiresAt}, ${guestUntil}::timestamptz)`,
    })
    .where(eq(sessions.id, session.id))
}

/** What was remembered under a name, once: of many who take it at once, one gets it. Two statements. */
export async function takeFromSession<Key extends keyof SessionData>(
  panel: Panel,
  session: Session,
  key: Key,
): Promise<SessionData[Key] | null> {
  const value = (session.data as SessionData)[key]
  if (value === undefined) return null
  const taken = await panel.db
    .update(sessions)
    .set({ data: sql`${sessions.data} - ${key}::text` })
    .where(
      and(
        eq(sessions.id, session.id),
        sql`${sessions.data} -> ${key}::text = ${JSON.stringify(value)}::jsonb`,
      ),
    )
    .returning({ id: sessions.id })
  return taken.length > 0 ? value : null
}

const { placeholder } = sql
const nowParameter = sql`${placeholder('now')}::timestamptz`

/** Keeps a session alive that was not used for a minute; lives as long again as it was given. */
export function touchSession(db: Database) {
  const minutes = sql`case when ${sessions.isRemembered} then ${rememberedMinutes}::int else ${idleMinutes}::int end`
  return db.$with('touched').as(
    db
      .update(sessions)
      .set({
        lastActiveAt: nowParameter,
        expiresAt: sql`${nowParameter} + make_interval(mins => ${minutes})`,
      })
      .where(
        and(
          eq(sessions.id, placeholder('id')),
          isNotNull(sessions.userId),
          gt(sessions.expiresAt, nowParameter),
          lt(sessions.lastActiveAt, sql`${nowParameter} - interval '1 minute'`),
        ),
      )
      .returning({ id: sessions.id }),
  )
}

/** Neither expired nor of before the last change of the account's password. */
export const isSessionAlive = () =>
  and(
    eq(sessions.id, placeholder('id')),
    gt(sessions.expiresAt, nowParameter),
    sql`(${sessions.userId} is null or ${sessions.authVersion} = ${users.authVersion})`,
  )

const sessionStatement = (db: Database) =>
  prepared(db, 'find_session', (connection) =>
    connection
      .with(touchSession(connection))
      .select({ session: sessions, user: users, required: secondFactorSetting() })
      .from(sessions)
      .leftJoin(users, eq(users.id, sessions.userId))
      .where(isSessionAlive())
      .prepare('find_session'),
  )
