import { eq, type SQL, sql } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import { throttles } from '../db/schema.ts'
import { type Database, only } from '../db/database.ts'
import type { Throttle } from '../db/tables/throttles.ts'
import { tooManyRequests } from '../errors.ts'
import type { Panel } from '../panel.ts'

/** How many failures one key has in a window of `seconds` that begins with the first of them. */
export type FailureLimit = { failures: number; seconds: number }

/** One more failure of the key; the first one after a window has ended opens another. One statement. */
export async function countFailure(panel: Panel, key: string, limit: FailureLimit): Promise<void> {
  await countingFailure(panel, panel.db, key, limit)
}

/** The statement of `countFailure`, for one that does more than this; counts nothing unless `when` holds. */
export function countingFailure(
  panel: Panel,
  db: Pick<Database, 'insert'>,
  key: string,
  limit: FailureLimit,
  when: SQL = sql`true`,
) {
  const now = panel.now()
  const resetsAt = new Date(now.getTime() + limit.seconds * 1000).toISOString()
  const isOver = sql`${throttles.resetsAt} <= ${now.toISOString()}::timestamptz`
  return db
    .insert(throttles)
    .select(sql`select ${key}::text, 1, ${resetsAt}::timestamptz where ${when}`)
    .onConflictDoUpdate({
      target: throttles.key,
      set: {
        hits: sql`case when ${isOver} then 1 else ${throttles.hits} + 1 end`,
        resetsAt: sql`case when ${isOver} then excluded.resets_at else ${throttles.resetsAt} end`,
      },
    })
}

/**
 * Takes one of the key's attempts, whatever comes of it: of many at once exactly as many get one as there are.
 * Refuses the others with 429 until the window of the first one ends. One statement.
 */
export async function takeAttempt(panel: Panel, key: string, limit: FailureLimit): Promise<void> {
  const counting = countingFailure(panel, panel.db, key, limit)
  refuseExcess(panel, only(await counting.returning(takenAttempt)), limit)
}

/** What a statement that takes an attempt has to return of it, for `refuseExcess`. */
export const takenAttempt = { hits: throttles.hits, resetsAt: throttles.resetsAt }

/** Refuses with 429 an attempt beyond the limit, until the window of the first one ends. */
export function refuseExcess(
  panel: Panel,
  taken: Pick<Throttle, 'hits' | 'resetsAt'>,
  limit: FailureLimit,
): void {
  if (taken.hits <= limit.failures) return
  throw tooManyRequests(secondsUntil(panel, taken.resetsAt), {}, 'TooManyRequestsHttpException')
}

/** The key has no failures any more. One statement. */
export async function clearThrottle(panel: Panel, key: string): Promise<void> {
  await panel.db.delete(throttles).where(eq(throttles.key, key))
}

/**
 * When the key may try again, for a statement that finds out more than this: null when it may at once. Key
 * and instant, an ISO 8601 string, may be placeholders.
 */
export const throttledUntil = (key: unknown, now: unknown, limit: FailureLimit): SQL<Date | null> =>
  sql<Date | null>`(select ${throttles.resetsAt} from ${throttles} where ${throttles.key} = ${key}
    and ${throttles.hits} >= ${limit.failures} and ${throttles.resetsAt} > ${now}::timestamptz)`.mapWith(
    throttles.resetsAt,
  )

/** Whole seconds from now on, at least one. */
export const secondsUntil = (panel: Panel, instant: Date): number =>
  Math.max(1, Math.ceil((instant.getTime() - panel.now().getTime()) / 1000))

/** Whose failures count together: an IPv4 address, or the /64 of a canonical IPv6 one, which one customer holds. */
export const networkOf = (address: string): string => (address.includes(':') ? prefixOf(address, 4) : address)

/** The /48 around a canonical IPv6 address, which one customer may hold too; null for IPv4. */
export const siteOf = (address: string): string | null =>
  address.includes(':') ? prefixOf(address, 3) : null

function prefixOf(address: string, groups: number): string {
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, groups)
  return `${parts.map((part) => part.toString(16)).join(':')}::/${16 * groups}`
}
