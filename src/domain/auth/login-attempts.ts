import { eq, sql, type SQL, type WithSubquery } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { throttles, users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { forbidden } from '../../errors.ts'
import { networkOf } from '../../ip-addresses.ts'
import type { Panel } from '../../panel.ts'
import { hasUsableEmail } from '../accounts/email-policy.ts'
import { settingsColumn } from '../settings/settings.ts'
import {
  attemptSubject,
  countAccountAttemptStatement,
  nameDigest,
  refundAccountAttemptCte,
  requireNoWait,
  accountWaitUntilColumn,
} from './account-attempts.ts'
import {
  attemptColumns,
  clearAttemptsCte,
  type CountedAttempt,
  countAttemptStatement,
  requireWithinLimit,
} from './attempt-limits.ts'
import type { KnownBrowser } from './known-browsers.ts'

/** Attempts for one account from one network, by browsers that never signed in to it. */
const attemptLimit = { maxAttempts: 5, windowSeconds: 120 }
/** Attempts of one browser that has signed in to the account before. */
const knownBrowserLimit = { maxAttempts: 10, windowSeconds: 900 }
/** Attempts from one network for any account. */
const networkAttemptLimit = { maxAttempts: 60, windowSeconds: 900 }

/** The count of the caller's network, which is judged once the account is known. */
export type NetworkAttempt = CountedAttempt & { isCaptchaSet: boolean }

/**
 * Counts a sign-in attempt of the caller's network and tells whether a captcha is required. Refuses with
 * 403 while signing in with a password is switched off, with 429 from the 61st attempt in 15 minutes on,
 * except by a known browser. One statement.
 */
export async function countNetworkAttempt(
  panel: Panel,
  browser: KnownBrowser | null,
): Promise<NetworkAttempt> {
  const { db } = panel
  const key = `login-network:${networkOf(panel.ip)}`
  const taken = db
    .$with('taken')
    .as(countAttemptStatement(panel, db, key, networkAttemptLimit).returning(attemptColumns))
  const settings = settingsColumn(['sign_in.password', 'captcha.provider'])
  const { hits, resetsAt, ...found } = single(
    await db.with(taken).select({ hits: taken.hits, resetsAt: taken.resetsAt, settings }).from(taken),
  )
  if (!found.settings['sign_in.password'])
    throw forbidden('passwords_off', 'Signing in with a password is switched off.')
  // Whether the browser is known to this account is found out by the next statement.
  if (!browser) requireWithinLimit(panel, { hits, resetsAt }, networkAttemptLimit)
  return { hits, resetsAt, isCaptchaSet: found.settings['captcha.provider'] !== 'none' }
}

/**
 * Counts a sign-in attempt for the account of the name, or for the name when there is none, and finds the
 * account: by its verified e-mail address (`hasUsableEmail`) when the name contains `@`, otherwise by user
 * name, case-insensitively.
 *
 * A browser that has signed in to the account before has ten attempts in 15 minutes of its own. Others are
 * refused with 429 from the sixth attempt in two minutes from one network on, and wait after twenty wrong
 * passwords from anywhere, of which the owner gets a mail: at most two minutes at a time. One statement, and
 * up to two for the mail.
 */
export async function countLoginAttempt(
  panel: Panel,
  name: string,
  browser: KnownBrowser | null,
  network: CountedAttempt,
): Promise<User | null> {
  const found = await countAttempts(panel, name, browser)
  if (found.known) {
    requireWithinLimit(panel, found.known, knownBrowserLimit)
    return found.user
  }
  requireWithinLimit(panel, network, networkAttemptLimit)
  if (found.here) requireWithinLimit(panel, found.here, attemptLimit)
  const { user, subject, anywhere, waitUntil } = found
  await requireNoWait(panel, {
    userId: user?.id ?? null,
    subject,
    hits: anywhere?.hits ?? null,
    waitUntil,
  })
  return user
}

async function countAttempts(panel: Panel, name: string, browser: KnownBrowser | null) {
  const { db } = panel
  const subject = attemptSubject(accountId(matchesLogin(panel, name)), nameDigest(name))
  const isKnown = sql`exists (${accountId(sql`${matchesLogin(panel, name)} and ${users.uuid} = ${browser?.userUuid ?? null}::uuid
    and ${users.authVersion} = ${browser?.authVersion ?? null}::int`)})`
  const countOnce = (key: string | SQL, limit: typeof attemptLimit, when: SQL) =>
    countAttemptStatement(panel, db, key, limit, { when }).returning(attemptColumns)
  const known = db
    .$with('known')
    .as(countOnce(`login-browser:${browser?.id ?? 'none'}`, knownBrowserLimit, isKnown))
  const here = db
    .$with('here')
    .as(
      countOnce(
        sql`'login:' || ${subject} || ':' || ${networkOf(panel.ip)}`,
        attemptLimit,
        sql`not ${isKnown}`,
      ),
    )
  // Attempts beyond this limit do not count for the account: one network must not use up its attempts.
  const isWithinLimit = sql`(select ${here.hits} from ${here}) <= ${attemptLimit.maxAttempts}`
  const now = panel.now().toISOString()
  const anywhere = db.$with('anywhere').as(
    countAccountAttemptStatement(db, subject, { when: isWithinLimit, now }).returning({
      hits: throttles.hits,
    }),
  )
  return single(
    await db
      .with(known, here, anywhere)
      .select({
        known: { hits: known.hits, resetsAt: known.resetsAt },
        here: { hits: here.hits, resetsAt: here.resetsAt },
        anywhere: { hits: anywhere.hits },
        waitUntil: accountWaitUntilColumn(subject),
        subject: sql<string>`${subject}`,
        user: users,
      })
      .from(sql`(select 1) as attempt`)
      .leftJoin(known, sql`true`)
      .leftJoin(here, sql`true`)
      .leftJoin(anywhere, sql`true`)
      .leftJoin(users, matchesLogin(panel, name)),
  )
}

/**
 * Takes a right password out of the counts of the caller's network, browser and account, as CTEs of another
 * statement.
 */
export function refundLoginAttemptCtes(
  panel: Panel,
  user: User,
  browser: KnownBrowser | null,
): WithSubquery[] {
  const keys = [
    `login:${user.id}:${networkOf(panel.ip)}`,
    ...(browser ? [`login-browser:${browser.id}`] : []),
  ]
  return [clearAttemptsCte(panel, ...keys), refundAccountAttemptCte(panel, user.id)]
}

const accountId = (where: SQL) => sql`select ${users.id} from ${users} where ${where}`

const matchesLogin = (panel: Panel, name: string): SQL =>
  name.includes('@')
    ? sql`lower(${users.email}) = ${name.toLowerCase()} and ${hasUsableEmail(panel)}`
    : eq(sql`lower(${users.username})`, name.toLowerCase())
