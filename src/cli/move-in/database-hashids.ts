import { eq, sql } from 'drizzle-orm'
import { databases, movedRows } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'
import { type Hashids, hashidOptionsOf, openHashids } from './hashids.ts'
import type { Move } from './move.ts'

const batchRows = 1000

/** Returns what writes the ids of databases as the old panel did; null where that is not known, and for Pelican, which shows numbers. */
export const hashidsOf = ({ kind, env }: Pick<Move, 'kind' | 'env'>): Hashids | null =>
  kind === 'pterodactyl' && env ? openHashids(hashidOptionsOf(env)) : null

/**
 * Notes what the old panel showed as the ids of the databases that moved, also in an earlier run without its `.env`.
 * Databases that are created here have none.
 */
export async function noteHashids(tx: Tx, move: Move): Promise<void> {
  const hashids = hashidsOf(move)
  if (!hashids) return
  const moved = await tx.db
    .select({ key: movedRows.key })
    .from(movedRows)
    .where(eq(movedRows.tableName, 'databases'))
  const ids = moved.map(({ key }) => Number((JSON.parse(key) as unknown[])[0]))
  for (let at = 0; at < ids.length; at += batchRows) {
    const names = ids.slice(at, at + batchRows).map((id) => ({ id, hashid: hashids(id) }))
    await tx.db.execute(sql`
      update ${databases} set hashid = named.hashid
      from json_to_recordset(${JSON.stringify(names)}::json) as named (id int, hashid text)
      where ${databases.id} = named.id and ${databases.hashid} is distinct from named.hashid`)
  }
}
