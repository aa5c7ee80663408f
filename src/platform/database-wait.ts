import { setTimeout as delay } from 'node:timers/promises'
import { errorCode } from '../db/database.ts'
import { causeOf, log } from '../log.ts'

/** SQLSTATEs of a database that is not there yet: without a connection, starting, shutting down, and with all connections taken. */
const awayCodes = new Set(['08006', '57P03', '57P01', '53300'])
/** SQLSTATEs of a refused account. */
const refusedCodes = new Set(['28P01', '28000'])
const retryMs = 1000
/** Milliseconds between two lines about it. */
const reminderMs = 10_000

/**
 * Runs `work`, and again each second for `seconds` while the database is away, which is logged and told to `onAway`.
 * Then, and for any other failure, throws an error whose message ends with what to do.
 */
export async function waitForDatabase<T>(
  seconds: number,
  work: () => Promise<T>,
  onAway: () => void = () => undefined,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000
  let remindedAt = 0
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const code = errorCode(error) ?? ''
      if (refusedCodes.has(code) || lacksPassword(error)) throw new Error(refusalOf(error))
      if (!awayCodes.has(code)) throw error
      onAway()
      if (Date.now() >= deadline) throw new Error(absenceOf(error))
      if (Date.now() - remindedAt >= reminderMs) {
        log('warn', 'The database is away: the start waits for it.', { cause: causeOf(error) })
        remindedAt = Date.now()
      }
      await delay(retryMs)
    }
  }
}

/** The driver fails so when PostgreSQL asks for a password and there is none. */
const lacksPassword = (error: unknown) => causeOf(error).includes('password must be a string')

const absenceOf = (error: unknown) =>
  errorCode(error) === '53300'
    ? `PostgreSQL has no connection left (${causeOf(error)}). Raise max_connections, or lower DATABASE_POOL_SIZE and PROCESSES.`
    : `${causeOf(error)}. Start PostgreSQL, or correct DATABASE_URL.`

const refusalOf = (error: unknown) =>
  `PostgreSQL refuses the account of DATABASE_URL (${causeOf(error)}). Correct DATABASE_URL or the file of PGPASSFILE, or give the account this password in PostgreSQL.`
