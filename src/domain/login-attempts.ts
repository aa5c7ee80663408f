import { and, eq, gt, sql } from 'drizzle-orm'
import { sessions, users } from '../db/schema.ts'
import type { User } from '../db/tables/users.ts'
import { ApiError } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { digest } from './secrets.ts'
import { clearThrottle, networkOf, takeAttempt } from './throttles.ts'

/** Wrong passwords for one name from one network, from one network for any name, for one name from anywhere. */
const guesses = { failures: 5, seconds: 300 }
const guessesOfNetwork = { failures: 60, seconds: 900 }
const guessesOfName = { failures: 100, seconds: 3600 }

/** The account that a name stands for in any case, or an address when it has an `@`. */
export async function findByName(panel: Panel, name: string): Promise<User | null> {
  const [user] = await panel.db.select().from(users).where(isNamed(name))
  return user ?? null
}

/**
 * One more attempt from the caller's network, whatever comes of it. Refuses with 429 from the 61st in 15
 * minutes on.
 */
export const takeNetworkAttempt = (panel: Panel): Promise<void> =>
  takeAttempt(panel, `login-network:${networkOf(panel.ip)}`, guessesOfNetwork)

/**
 * One more attempt for the name, known or not. Refuses with 429 from the sixth in five minutes on, from one
 * network. From the 101st in an hour on, whoever comes from a network from which nobody is signed in to the
 * account is refused too: guesses from many networks find nothing, and its owner is not locked out by them.
 */
export async function takeLoginAttempt(panel: Panel, name: string): Promise<void> {
  await takeAttempt(panel, keyOf(panel, name), guesses)
  try {
    await takeAttempt(panel, `login-name:${digest(name.toLowerCase())}`, guessesOfName)
  } catch (refusal) {
    if (refusal instanceof ApiError && (await isSignedInFromHere(panel, name))) return
    throw refusal
  }
}

/** The name has had no wrong passwords from this network. */
export const forgetLoginAttempts = (panel: Panel, name: string): Promise<void> =>
  clearThrottle(panel, keyOf(panel, name))

const keyOf = (panel: Panel, name: string) => `login:${digest(name.toLowerCase())}:${networkOf(panel.ip)}`

async function isSignedInFromHere(panel: Panel, name: string): Promise<boolean> {
  const known = await panel.db
    .select({ ip: sessions.ip })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(isNamed(name), gt(sessions.expiresAt, panel.now())))
  return known.some(({ ip }) => networkOf(ip) === networkOf(panel.ip))
}

const isNamed = (name: string) =>
  eq(sql`lower(${name.includes('@') ? users.email : users.username})`, name.toLowerCase())
