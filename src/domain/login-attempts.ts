import { and, eq, gt, sql } from 'drizzle-orm'
import { only } from '../db/database.ts'
import { sessions, throttles, users } from '../db/schema.ts'
import type { User } from '../db/tables/users.ts'
import { forbidden } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { digest } from './secrets.ts'
import { settingsColumn } from './settings.ts'
import { countingFailure, networkOf, refuseExcess, takenAttempt } from './throttles.ts'

/** Wrong passwords for one name from one network, from one network for any name, for one name from anywhere. */
const guesses = { failures: 5, seconds: 300 }
const guessesOfNetwork = { failures: 60, seconds: 900 }
const guessesOfName = { failures: 100, seconds: 3600 }

/**
 * One more attempt from the caller's network, whatever comes of it, and whether it needs a captcha. Refuses
 * with 403 while passwords are switched off, with 429 from the 61st in 15 minutes on. One statement.
 */
export async function takeNetworkAttempt(panel: Panel): Promise<{ isCaptchaSet: boolean }> {
  const { db } = panel
  const key = `login-network:${networkOf(panel.ip)}`
  const taken = db
    .$with('taken')
    .as(countingFailure(panel, db, key, guessesOfNetwork).returning(takenAttempt))
  const settings = settingsColumn(['sign_in.password', 'captcha.provider'])
  const found = only(
    await db.with(taken).select({ hits: taken.hits, resetsAt: taken.resetsAt, settings }).from(taken),
  )
  if (!found.settings['sign_in.password']) throw forbidden('Signing in with a password is off.')
  refuseExcess(panel, found, guessesOfNetwork)
  return { isCaptchaSet: found.settings['captcha.provider'] !== 'none' }
}

/**
 * The account that a name stands for in any case, or an address when it has an `@`, after one more attempt for
 * the name, known or not. Refuses with 429 from the sixth in five minutes on, from one network. From the 101st
 * in an hour on, whoever comes from a network from which nobody is signed in to the account is refused too:
 * guesses from many networks find nothing, and its owner is not locked out by them. One statement.
 */
export async function takeLoginAttempt(panel: Panel, name: string): Promise<User | null> {
  const { db } = panel
  const here = db
    .$with('here')
    .as(countingFailure(panel, db, keyOf(panel, name), guesses).returning(takenAttempt))
  // What is refused here counts nowhere else: one network alone must not use up a name's attempts.
  const isLetThrough = sql`(select ${here.hits} from ${here}) <= ${guesses.failures}`
  const nameKey = `login-name:${digest(name.toLowerCase())}`
  const anywhere = db
    .$with('anywhere')
    .as(countingFailure(panel, db, nameKey, guessesOfName, isLetThrough).returning(takenAttempt))
  const isTooMany = sql`${anywhere.hits} > ${guessesOfName.failures}`
  const found = only(
    await db
      .with(here, anywhere)
      .select({
        here: { hits: here.hits, resetsAt: here.resetsAt },
        anywhere: { hits: anywhere.hits, resetsAt: anywhere.resetsAt },
        user: users,
        signedInFrom: sql<string | null>`case when ${isTooMany} then ${signedInAddresses(panel)} end`,
      })
      .from(here)
      .leftJoin(anywhere, sql`true`)
      .leftJoin(users, isNamed(name)),
  )
  refuseExcess(panel, found.here, guesses)
  const networks = (found.signedInFrom ?? '').split(' ').filter(Boolean).map(networkOf)
  if (found.anywhere && !networks.includes(networkOf(panel.ip))) {
    refuseExcess(panel, found.anywhere, guessesOfName)
  }
  return found.user
}

/** As a part of another statement: the name has had no wrong passwords from this network. */
export const forgettingLoginAttempts = (panel: Panel, name: string) =>
  panel.db.$with('forgotten').as(
    panel.db
      .delete(throttles)
      .where(eq(throttles.key, keyOf(panel, name)))
      .returning({ key: throttles.key }),
  )

const keyOf = (panel: Panel, name: string) => `login:${digest(name.toLowerCase())}:${networkOf(panel.ip)}`

/** Where the account is signed in, joined by blanks. */
const signedInAddresses = ({ now }: Panel) =>
  sql`(select string_agg(${sessions.ip}, ' ') from ${sessions}
    where ${and(eq(sessions.userId, users.id), gt(sessions.expiresAt, now()))})`

const isNamed = (name: string) =>
  eq(sql`lower(${name.includes('@') ? users.email : users.username})`, name.toLowerCase())
