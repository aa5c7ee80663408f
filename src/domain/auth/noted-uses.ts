import type { Database } from '../../db/database.ts'
import { readEvenIfFull } from '../../db/write-failures.ts'
import type { Panel } from '../../panel.ts'

/**
 * Milliseconds for which this process does not note a use again. The statement does so once a minute, whichever process
 * runs it, so that of several processes a use is noted after two minutes at the latest.
 */
const notedMs = 60_000
/** Credentials of which a process knows that their use is noted. */
const maxNoted = 10_000

/** When a statement has noted the use of a credential, by the whole credential: a wrong secret is another one. */
const notedUses = new WeakMap<Database, Map<string, number>>()

/**
 * Runs the statement of a credential. It notes that the credential was used, unless this process has noted that a moment
 * ago, or the database cannot write: then the statement only reads.
 */
export async function readNotingUse<Rows>(
  { db, now }: Panel,
  credential: string,
  run: (writesUse: boolean) => Promise<Rows>,
): Promise<Rows> {
  const nowMs = now().getTime()
  const noted = notedUses.get(db) ?? new Map<string, number>()
  notedUses.set(db, noted)
  if (Math.abs(nowMs - (noted.get(credential) ?? -Infinity)) <= notedMs) return run(false)
  const rows = await readEvenIfFull(db, run)
  if (noted.size >= maxNoted) noted.clear()
  noted.set(credential, nowMs)
  return rows
}
