import { and, eq, gt, sql, type SQL } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { throttles } from '../../db/schema.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { enqueueSignInWarning } from '../mail/enqueue.ts'
import { digest } from '../secrets.ts'
import { countAttemptStatement, tooManyAttempts } from './attempt-limits.ts'

/** Wrong passwords for one account after which unknown browsers wait between two attempts. */
export const freeAttempts = 20
/** The longest wait; the first one is 2 seconds, each further one twice as long. */
const maxWaitSeconds = 120
const maxDoublings = 7
/** Seconds without an attempt after which the count begins anew. */
const memorySeconds = 3600
/** Mails to the owner. */
const warningLimit = { maxAttempts: 1, windowSeconds: 86_400 }

/**
 * Returns who is counted as SQL: the account that the query finds, so that its names, addresses and their
 * spellings share one count, or else the name.
 */
export const attemptSubject = (accountId: SQL, nameDigest: unknown): SQL =>
  sql`coalesce((${accountId})::text, ${nameDigest}::text)`

/** Returns what stands for a name without an account. */
export const nameDigest = (name: string): string => digest(name.toLowerCase())

const accountKey = (subject: SQL) => sql`'login-account:' || ${subject}`

/**
 * The end of the wait that the attempts so far cause; null when they cause none, whatever the clock was at the
 * last one.
 */
const waitUntil = sql<Date | null>`case when ${throttles.hits} > ${freeAttempts} then ${throttles.resetsAt}
  + make_interval(secs => least(${maxWaitSeconds}, power(2, least(${throttles.hits} - ${freeAttempts}, ${maxDoublings})))
  - ${memorySeconds}) end`

/**
 * Builds the statement that counts an attempt by a browser that never signed in to the account, or over
 * SFTP. It returns a row when the attempt may proceed, and counts and returns nothing during a wait, so that
 * waits do not grow by what was refused. Exact under parallel requests.
 */
export function countAccountAttemptStatement(
  db: Pick<Database, 'insert'>,
  subject: SQL,
  { when, now }: { when: SQL; now: unknown },
) {
  const hasEnded = sql`${throttles.resetsAt} <= ${now}::timestamptz`
  const resetsAt = sql`${now}::timestamptz + make_interval(secs => ${memorySeconds})`
  return db
    .insert(throttles)
    .select(sql`select ${accountKey(subject)}, 1, ${resetsAt} where ${when}`)
    .onConflictDoUpdate({
      target: throttles.key,
      set: {
        hits: sql`case when ${hasEnded} then 1 else ${throttles.hits} + 1 end`,
        resetsAt: sql`excluded.resets_at`,
      },
      setWhere: sql`(${waitUntil} <= ${now}::timestamptz) is not false`,
    })
}

/** Column with the end of the current wait for an account, or null. */
export const accountWaitUntilColumn = (subject: SQL): SQL<Date | null> =>
  sql<Date | null>`(select ${waitUntil} from ${throttles} where ${throttles.key} = ${accountKey(subject)})`.mapWith(
    throttles.resetsAt,
  )

/** A counted attempt: the account, what was counted, and the count, which is null when it has to wait. */
export type AccountAttempt = {
  userId: number | null
  subject: string
  hits: number | null
  waitUntil: Date | null
}

/**
 * Refuses with 429 an attempt that has to wait. Sends the owner a mail, at most one a day, once there were
 * more wrong passwords than are free of a wait; the work is the same when there is no owner.
 */
export async function requireNoWait(panel: Panel, attempt: AccountAttempt): Promise<void> {
  const { hits, waitUntil: until } = attempt
  // A parallel attempt can have begun the wait after this statement read the row.
  if (hits === null) throw tooManyAttempts(panel, latest(panel.now(), until))
  if (hits > freeAttempts) await warnOwner(panel, attempt)
}

const latest = (now: Date, until: Date | null) =>
  until && until > now ? until : new Date(now.getTime() + 1000)

async function warnOwner(panel: Panel, { userId, subject }: AccountAttempt): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const key = `login-warning:${subject}`
    const [counted] = await countAttemptStatement(tx, tx.db, key, warningLimit).returning({
      hits: throttles.hits,
    })
    if (counted && counted.hits <= warningLimit.maxAttempts) await enqueueSignInWarning(tx, userId)
  })
}

/** Takes a right password out of the count of its account, as a CTE of another statement. */
export const refundAccountAttemptCte = (tx: Tx, userId: number) =>
  tx.db.$with('account_refund').as(
    tx.db
      .update(throttles)
      .set({ hits: sql`${throttles.hits} - 1` })
      .where(and(eq(throttles.key, `login-account:${userId}`), gt(throttles.hits, 0)))
      .returning({ key: throttles.key }),
  )
