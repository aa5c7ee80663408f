import { sql } from 'drizzle-orm'
import { type Database, errorCode, rowsOf } from '../../db/database.ts'
import { countSecretsByKey } from '../../domain/operations/rotate-keys.ts'
import { sign } from '../../domain/secrets.ts'
import type { KeyRing } from '../../panel.ts'
import type { Manifest } from './manifest.ts'

export type DatabaseDescription = Pick<Manifest, 'schema' | 'keys'>

/** Returns the state of the schema, and the keys with the number of secrets that need each. Changes nothing. */
export async function describeDatabase(db: Database, keys: KeyRing): Promise<DatabaseDescription> {
  const result = await db.execute(
    sql`select count(*)::int as count, coalesce(max(created_at), 0)::float8 as newest from migrations`,
  )
  const schema = rowsOf<Manifest['schema']>(result)[0] ?? { count: 0, newest: 0 }
  const counts = await countSecrets(db)
  const described = keys.map(async (key) => ({
    id: key.id,
    fingerprint: await fingerprintOf(key),
    secrets: counts && (counts.get(key.id) ?? 0),
  }))
  return { schema, keys: await Promise.all(described) }
}

/** Returns what tells a key from others without showing it. */
export const fingerprintOf = (key: KeyRing[number]): Promise<string> =>
  sign({ keys: [key] }, 'backup', 'fingerprint')

/** Counts secrets by the id of their key; null where the schema is older and lacks one of their columns. */
async function countSecrets(db: Database): Promise<Map<string, number> | null> {
  try {
    const counts = new Map<string, number>()
    for (const { keys } of await countSecretsByKey({ db }))
      for (const [id, count] of Object.entries(keys)) counts.set(id, (counts.get(id) ?? 0) + count)
    return counts
  } catch (error) {
    if (errorCode(error)?.startsWith('42')) return null
    throw error
  }
}
