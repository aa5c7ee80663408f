import { eq, sql } from 'drizzle-orm'
import { settings } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { sign } from '../secrets.ts'

/** The row of the settings with a fingerprint of each key; no setting has its name. */
export const keyCheckRow = 'keys.check'

type Keyed = Pick<Panel, 'db' | 'keys'>

/**
 * Compares the keys with those that the database was used with: `same` when one of them was there, which is so in each
 * step of a rotation, `other` when none was, and `unknown` before the first `rememberKeys`. One statement.
 */
export async function compareKeys({ db, keys }: Keyed): Promise<'same' | 'other' | 'unknown'> {
  const [found] = await db
    .select({ value: settings.value })
    .from(settings)
    .where(eq(settings.key, keyCheckRow))
  if (!found) return 'unknown'
  const known = new Set(found.value as string[])
  return (await fingerprintsOf(keys)).some((fingerprint) => known.has(fingerprint)) ? 'same' : 'other'
}

/** Stores the fingerprints of these keys in place of those before. One statement, which writes what has changed only. */
export async function rememberKeys({ db, keys }: Keyed): Promise<void> {
  const value = await fingerprintsOf(keys)
  await db
    .insert(settings)
    .values({ key: keyCheckRow, value })
    .onConflictDoUpdate({
      target: settings.key,
      set: { value, updatedAt: sql`now()` as never },
      setWhere: sql`${settings.value} <> excluded.value`,
    })
}

/** Signatures say which key made them, and cannot be made without it. */
const fingerprintsOf = (keys: Panel['keys']): Promise<string[]> =>
  Promise.all(keys.map((key) => sign({ keys: [key] }, 'key-check', 'fingerprint')))
