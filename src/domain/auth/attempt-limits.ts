import { eq, inArray, sql, type SQL } from 'drizzle-orm'
import { type Database, single } from '../../db/database.ts'
import { throttles } from '../../db/schema.ts'
import type { Throttle } from '../../db/tables/throttles.ts'
import { tooManyRequests } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'

/** How many attempts a key has in a window, which begins with the first one. */
export type RateLimit = { maxAttempts: number; windowSeconds: number }

/** Counts an attempt of the key; the first one after the end of a window opens another. One statement. */
export async function countAttempt(panel: Panel, key: string, limit: RateLimit): Promise<void> {
  await countAttemptStatement(panel, panel.db, key, limit)
}

/**
 * Builds the statement of `countAttempt` for use in a larger one. It counts only when `when` holds. `key`
 * may be SQL; `now`, an ISO 8601 string, may be a placeholder.
 */
export function countAttemptStatement(
  tx: Tx,
  db: Pick<Database, 'insert'>,
  key: string | SQL,
  limit: RateLimit,
  { when = sql`true`, now = tx.now().toISOString() }: { when?: SQL; now?: unknown } = {},
) {
  const resetsAt = sql`${now}::timestamptz + make_interval(secs => ${limit.windowSeconds})`
  const hasEnded = sql`${throttles.resetsAt} <= ${now}::timestamptz`
  return db
    .insert(throttles)
    .select(sql`select ${key}::text, 1, ${resetsAt} where ${when}`)
    .onConflictDoUpdate({
      target: throttles.key,
      set: {
        hits: sql`case when ${hasEnded} then 1 else ${throttles.hits} + 1 end`,
        resetsAt: sql`case when ${hasEnded} then excluded.resets_at else ${throttles.resetsAt} end`,
      },
    })
}

/**
 * Counts an attempt and refuses with 429 one beyond the limit, until the window ends. Exact under parallel
 * requests. One statement.
 */
export async function consumeAttempt(panel: Panel, key: string, limit: RateLimit): Promise<void> {
  const counting = countAttemptStatement(panel, panel.db, key, limit)
  requireWithinLimit(panel, single(await counting.returning(attemptColumns)), limit)
}

/** Hits of the window, this attempt included, and the end of the window. */
export type CountedAttempt = Pick<Throttle, 'hits' | 'resetsAt'>

/** Columns that `requireWithinLimit` needs from a statement that counts an attempt. */
export const attemptColumns = { hits: throttles.hits, resetsAt: throttles.resetsAt }

/** Refuses with 429 an attempt beyond the limit, until the window ends. */
export function requireWithinLimit(panel: Panel, attempt: CountedAttempt, limit: RateLimit): void {
  if (attempt.hits > limit.maxAttempts) throw tooManyAttempts(panel, attempt.resetsAt)
}

/** 429: the caller may try again at this time. */
export const tooManyAttempts = (tx: Tx, until: Date) =>
  tooManyRequests(secondsUntil(tx, until), {}, 'TooManyRequestsHttpException')

/** Resets the count of the key. One statement. */
export async function clearAttempts(panel: Panel, key: string): Promise<void> {
  await panel.db.delete(throttles).where(eq(throttles.key, key))
}

/** Does the same as a CTE of another statement. */
export const clearAttemptsCte = ({ db }: Tx, ...keys: string[]) =>
  db
    .$with('cleared')
    .as(db.delete(throttles).where(inArray(throttles.key, keys)).returning({ key: throttles.key }))

/**
 * Column with the time at which the key may try again, or null when it may now. `key` and `now`, an ISO
 * 8601 string, may be placeholders.
 */
export const throttledUntilColumn = (key: unknown, now: unknown, limit: RateLimit): SQL<Date | null> =>
  sql<Date | null>`(select ${throttles.resetsAt} from ${throttles} where ${throttles.key} = ${key}
    and ${throttles.hits} >= ${limit.maxAttempts} and ${throttles.resetsAt} > ${now}::timestamptz)`.mapWith(
    throttles.resetsAt,
  )

/** Returns the whole seconds until a time, at least one. */
export const secondsUntil = (tx: Tx, instant: Date): number =>
  Math.max(1, Math.ceil((instant.getTime() - tx.now().getTime()) / 1000))
