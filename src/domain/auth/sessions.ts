import { and, desc, eq, gt, isNull, ne, or, sql, type SQL, type WithSubquery } from 'drizzle-orm'
import { type Database, prepared, single } from '../../db/database.ts'
import { sessions, users } from '../../db/schema.ts'
import type { Acl } from '../../db/tables/api-keys.ts'
import type { Session, SessionData } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import { notFound } from '../../errors.ts'
import { type ActingAdministrator, inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { digest, equalSecrets, randomText } from '../secrets.ts'
import { roleAclColumn } from './administrators.ts'
import { requireCaller } from './caller.ts'
import { createKnownBrowserToken } from './known-browsers.ts'
import { noteUse, toUses, type WriteUses } from './noted-uses.ts'
import { twoFactorSettingColumn } from './two-factor-policy.ts'

/** Letters and digits of a session token: more than 256 bits. */
const tokenLength = 48
/** Minutes after which an unused session expires. */
const idleMinutes = 720
/** The same with "stay signed in". */
const rememberedMinutes = 30 * 24 * 60
/** Lifetime of a guest session in minutes: longer than any challenge. */
const guestMinutes = 30

/**
 * The token of a session, which only the cookie holds; of a signed-in one also the token with which its
 * browser is known from now on.
 */
export type NewSession = { token: string; remembered: boolean; knownBrowserToken?: string }

/** Generates a session token. A guest has a token without a row until there is data to store. */
export const newSessionToken = (): string => randomText(tokenLength)

/** Returns the id under which the session of a token is stored. */
export const sessionId = (token: string): string => digest(`session ${token}`)

/** Returns the CSRF token of the session; it reveals nothing about the session token. */
export const csrfToken = (token: string): string => digest(`csrf ${token}`)

/** Returns a check for submitted CSRF tokens of the session. */
export const matchesCsrfToken =
  (token: string | null) =>
  (submitted: string): boolean =>
    token !== null && equalSecrets(submitted, csrfToken(token))

/** Whether the value of a cookie has the shape of a session token. */
export const isSessionToken = (text: string): boolean => /^[A-Za-z0-9]{48}$/.test(text)

/** A session with its user, the levels of their role, and the value of the setting `two_factor.required`. */
export type FoundSession = {
  session: Session
  user: User | null
  roleAcl: Acl | null
  administrator: ActingAdministrator | null
  required: unknown
}

/**
 * Finds the session of a token with its user and notes its use. Returns null when it has expired (12 hours
 * without use, 30 days with "stay signed in") or is older than the account's last change of password. One
 * statement. Spec: docs/accounts.md#sessions.
 */
export async function findSession(panel: Panel, token: string): Promise<FoundSession | null> {
  const id = sessionId(token)
  const now = panel.now().toISOString()
  const [found] = await sessionStatement(panel.db).execute({ id, now })
  if (!found) return null
  if (found.user && !found.administrator) noteSessionUse(panel, found.session)
  return found
}

/**
 * The browser of the session, the token of the session that it replaces, and CTEs to run in the same
 * statement.
 */
type SessionOptions = { userAgent: string; previous: string | null; additionalCtes?: WithSubquery[] }

/** Creates a session for an authenticated user and deletes the `previous` one. One statement. */
export async function createSession(
  tx: Tx,
  user: Pick<User, 'id' | 'authVersion'>,
  options: SessionOptions & { remember: boolean },
): Promise<NewSession> {
  const minutes = options.remember ? rememberedMinutes : idleMinutes
  const owner = { userId: user.id, authVersion: user.authVersion, isRemembered: options.remember }
  return { token: await insertSession(tx, owner, minutes, options), remembered: options.remember }
}

/** Creates a guest session with data and deletes the `previous` one. One statement. */
export async function createGuestSession(
  panel: Panel,
  data: SessionData,
  options: SessionOptions,
): Promise<NewSession> {
  return { token: await insertSession(panel, { data }, guestMinutes, options), remembered: false }
}

/** Inserts a session and deletes the `previous` one; returns its token. */
export async function insertSession(
  tx: Tx,
  values: Partial<typeof sessions.$inferInsert>,
  minutes: number,
  { userAgent, previous, additionalCtes = [] }: SessionOptions,
): Promise<string> {
  const { db } = tx
  const token = newSessionToken()
  const now = tx.now()
  const deletedCte = db.$with('closed').as(
    db
      .delete(sessions)
      .where(eq(sessions.id, sessionId(previous ?? '')))
      .returning({ id: sessions.id }),
  )
  await db
    .with(deletedCte, ...additionalCtes)
    .insert(sessions)
    .values({
      ...values,
      id: sessionId(token),
      ip: tx.ip,
      userAgent: userAgent.replace(/[^\P{C}]/gu, '').slice(0, 255),
      createdAt: now,
      lastActiveAt: now,
      expiresAt: new Date(now.getTime() + minutes * 60_000),
    })
  return token
}

/** Deletes the session of a token, and with one in which an administrator acts for a user the administrator's own. */
export async function deleteSession(panel: Panel, token: string): Promise<void> {
  const id = sessionId(token)
  const own = sql`(select s.administrator_session_id from ${sessions} s where s.id = ${id})`
  await panel.db.delete(sessions).where(or(eq(sessions.id, id), eq(sessions.id, own)))
}

/** Merges data into the session, replacing equal keys. Extends the session of a guest. */
export async function mergeSessionData(
  panel: Panel,
  session: Pick<Session, 'id'>,
  additions: SessionData,
): Promise<void> {
  const guestUntil = new Date(panel.now().getTime() + guestMinutes * 60_000).toISOString()
  await panel.db
    .update(sessions)
    .set({
      data: sql`${sessions.data} || ${JSON.stringify(additions)}::jsonb`,
      expiresAt: sql`case when ${sessions.userId} is null then greatest(${sessions.expiresAt}, ${guestUntil}::timestamptz) else ${sessions.expiresAt} end`,
    })
    .where(eq(sessions.id, session.id))
}

/**
 * Stores data in the session, or in a new guest session when there is none. Returns the new session, or null
 * when the browser keeps its own.
 */
export async function storeInSession(
  panel: Panel,
  session: Pick<Session, 'id'> | null,
  data: SessionData,
  options: SessionOptions,
): Promise<NewSession | null> {
  if (!session) return createGuestSession(panel, data, options)
  await mergeSessionData(panel, session, data)
  return null
}

/** Removes and returns one entry of the session data; parallel requests get it once. Two statements. */
export async function takeSessionData<Key extends keyof SessionData>(
  panel: Panel,
  session: Session,
  key: Key,
): Promise<SessionData[Key] | null> {
  const value = session.data[key]
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

/**
 * Notes that the session of a user is used, which extends it. Not for one in which an administrator acts for them: that
 * ends when it was said to end.
 */
export const noteSessionUse = (
  panel: Panel,
  { id, lastActiveAt }: Pick<Session, 'id' | 'lastActiveAt'>,
): void => void noteUse(panel, { id, notedAt: lastActiveAt }, extendSessions)

/** Extends sessions from when they were used. Those that another statement has locked are left to it. */
const extendSessions: WriteUses<string> = (db, uses) =>
  db.execute(sql`
    update ${sessions} set last_active_at = used.at, expires_at = used.at + used.lifetime from (
      select s.id, u.at,
        make_interval(mins => case when s.is_remembered then ${rememberedMinutes}::int else ${idleMinutes}::int end) as lifetime
      from ${toUses(uses)} as u (id text, at timestamptz) join ${sessions} s on s.id = u.id
      where s.expires_at > u.at and s.last_active_at < u.at - interval '1 minute'
      for no key update of s skip locked
    ) used where ${sessions.id} = used.id`)

/** Column with the administrator who acts for the user in the session (`sessions`); null in the user's own. */
export const actingAdministratorColumn = (): SQL<ActingAdministrator | null> =>
  sql`(select json_build_object('id', a.id, 'uuid', a.uuid, 'username', a.username) from ${users} a where a.id = ${sessions.administratorId})`

/** Matches the session unless it has expired or is older than the account's last change of password. */
export const isSessionAlive = () =>
  and(
    eq(sessions.id, placeholder('id')),
    gt(sessions.expiresAt, nowParameter),
    sql`(${sessions.userId} is null or ${sessions.authVersion} = ${users.authVersion})`,
  )

const sessionStatement = (db: Database) =>
  prepared(db, 'find_session', (connection) =>
    connection
      .select({
        session: sessions,
        user: users,
        roleAcl: roleAclColumn(),
        administrator: actingAdministratorColumn(),
        required: twoFactorSettingColumn(),
      })
      .from(sessions)
      .leftJoin(users, eq(users.id, sessions.userId))
      .where(isSessionAlive())
      .prepare('find_session'),
  )

/**
 * Ends all sessions of the account except the caller's own; no browser is known to it any more. API keys
 * stay valid. Call it in the transaction of the change. Spec: putClientAccountPassword.
 */
export async function endSessions(tx: Tx, userId: number): Promise<void> {
  const { actor } = tx
  const ownSession = actor.kind === 'user' && actor.user.id === userId ? actor.session : undefined
  const { authVersion } = await raiseAuthVersion(tx, userId)
  const isOtherSession = ownSession ? ne(sessions.id, ownSession.id) : undefined
  await tx.db.delete(sessions).where(and(eq(sessions.userId, userId), isOtherSession))
  if (ownSession) await tx.db.update(sessions).set({ authVersion }).where(eq(sessions.id, ownSession.id))
}

/** Invalidates everything that carries the account's earlier number. Returns the new one; locks the account. */
const raiseAuthVersion = async (tx: Tx, userId: number) =>
  single(
    await tx.db
      .update(users)
      .set({ authVersion: sql`${users.authVersion} + 1`, updatedAt: tx.now() })
      .where(eq(users.id, userId))
      .returning({ uuid: users.uuid, authVersion: users.authVersion }),
  )

/**
 * Replaces the token of the session, so that the old one no longer works. Returns null when the session is
 * gone.
 */
export async function renewSession(panel: Panel, session: { id: string }): Promise<NewSession | null> {
  const token = newSessionToken()
  const [renewed] = await panel.db
    .update(sessions)
    .set({ id: sessionId(token) })
    .from(users)
    .where(and(eq(sessions.id, session.id), eq(users.id, sessions.userId)))
    .returning({ remembered: sessions.isRemembered, uuid: users.uuid, authVersion: users.authVersion })
  if (!renewed) return null
  const { remembered, ...user } = renewed
  return { token, remembered, knownBrowserToken: await createKnownBrowserToken(panel, user) }
}

/** Sessions in a list, most recently used first. */
const maxListedSessions = 100
/** Characters of a session's id that its owner sees; they reveal nothing about its token. */
const publicIdLength = 32

/** A session as its owner sees it. */
export type AccountSession = Pick<Session, 'id' | 'ip' | 'userAgent' | 'createdAt' | 'lastActiveAt'> & {
  isCurrent: boolean
}

/** Lists the caller's live sessions, most recently used first, at most 100; the current one is used now. One statement. */
export async function listAccountSessions(panel: Panel): Promise<AccountSession[]> {
  const { id: userId, authVersion } = requireCaller(panel)
  const currentId = currentSessionId(panel)
  const isAlive = and(eq(sessions.authVersion, authVersion), gt(sessions.expiresAt, panel.now()))
  const rows = await panel.db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isNull(sessions.administratorId), isAlive))
    .orderBy(desc(eq(sessions.id, currentId)), desc(sessions.lastActiveAt), desc(sessions.createdAt))
    .limit(maxListedSessions)
  return rows.map((row) => {
    const isCurrent = row.id === currentId
    const lastActiveAt = isCurrent ? panel.now() : row.lastActiveAt
    return { ...row, id: publicSessionId(row), isCurrent, lastActiveAt }
  })
}

/**
 * Ends one of the caller's sessions; no browser is known to the account any more. Returns the token with
 * which the caller's is known again, or null when it ended its own session. Refuses with 404. Records
 * `user:session.delete`.
 */
export async function endAccountSession(panel: Panel, id: string): Promise<string | null> {
  const user = await inTransaction(panel, async (tx) => {
    const { owner, isAny } = await deleteSessions(tx, requireCaller(tx).id, hasPublicId(id))
    if (!isAny) throw notFound()
    return owner
  })
  return currentSessionId(panel).startsWith(id) ? null : createKnownBrowserToken(panel, user)
}

/**
 * Ends all of the caller's sessions except the current one; no other browser is known to the account any
 * more. Returns the token with which the caller's is known again. Records `user:session.delete` when there
 * was another session.
 */
export async function endOtherSessions(panel: Panel): Promise<string> {
  const isOther = ne(sessions.id, currentSessionId(panel))
  const { owner } = await inTransaction(panel, (tx) => deleteSessions(tx, requireCaller(tx).id, isOther))
  return createKnownBrowserToken(panel, owner)
}

/** Matches the session with this id as `publicSessionId` gives it. */
export const hasPublicId = (id: string): SQL => eq(sql`left(${sessions.id}, ${publicIdLength}::int)`, id)

/** Returns the part of a session's id that people may see. */
export const publicSessionId = ({ id }: Pick<Session, 'id'>): string => id.slice(0, publicIdLength)

/**
 * Deletes sessions of an account. The others stay valid; the tokens of known browsers do not. Records
 * `user:session.delete` when there was one.
 */
export async function deleteSessions(
  tx: Tx,
  userId: number,
  condition: SQL | undefined,
): Promise<{ owner: Pick<User, 'uuid' | 'authVersion'>; isAny: boolean }> {
  const owner = await raiseAuthVersion(tx, userId)
  const { authVersion } = owner
  const isOwn = eq(sessions.userId, userId)
  const deleted = await tx.db.delete(sessions).where(and(isOwn, condition)).returning({ id: sessions.id })
  const wasValid = eq(sessions.authVersion, authVersion - 1)
  await tx.db.update(sessions).set({ authVersion }).where(and(isOwn, wasValid))
  if (deleted.length > 0) await recordEvent(tx, 'user:session.delete', { userId })
  return { owner, isAny: deleted.length > 0 }
}

const currentSessionId = ({ actor }: Panel): string =>
  actor.kind === 'user' ? (actor.session?.id ?? '') : ''
