import { sql } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { oneRow } from '../../db/data-column.ts'
import { movedRows } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'

/** The time zone in which the old panel's schedules run, and what said so. */
export type Zone = { name: string; from: 'option' | 'env' | 'default' }

const reasons: Record<Zone['from'], string> = {
  option: 'as given',
  env: 'from APP_TIMEZONE of the .env',
  default: 'since neither a time zone (--timezone) nor a .env with APP_TIMEZONE was given',
}

/** Says which zone is taken, and why. */
export const describeZone = ({ name, from }: Zone): string =>
  `Time zone of schedules: ${name}, ${reasons[from]}.`

/** Says that a zone replaces that of the first run, where one did. */
export const describeCorrection = (first: string | null, { name }: Zone): string[] =>
  first === null || first === name
    ? []
    : [`It replaces ${first} of the first run: schedules that moved, and were not changed here, run in it.`]

/** The row in the record of what moved with the zone of the first run; no table has its name. */
const place = { tableName: 'move', key: 'timezone' }

/** Notes the zone of the first run, or that which replaces it. */
export async function recordZone(tx: Tx, zone: string): Promise<void> {
  await tx.db
    .insert(movedRows)
    .values({ ...place, digest: zone })
    .onConflictDoUpdate({ target: [movedRows.tableName, movedRows.key], set: { digest: zone } })
}

/** Selects the zone of the first run; null before that. */
export const firstZone = sql<
  string | null
>`(select ${movedRows.digest} from ${movedRows} where ${movedRows.tableName} = ${place.tableName} and ${movedRows.key} = ${place.key})`

/** Reads the zone of the first run; null before that. */
export async function readFirstZone(tx: Pick<Tx, 'db'>): Promise<string | null> {
  return single(await tx.db.select({ name: firstZone }).from(oneRow)).name
}

/** Throws where an earlier run took another zone: schedules that moved already run in that. */
export function requireFirstZone(first: string | null, zone: Zone): void {
  if (first === null || first === zone.name) return
  throw new Error(
    `The first run took ${first} as the time zone of schedules, and this one would take ${zone.name}, ${reasons[zone.from]}. ` +
      `Give that of the first run: --timezone ${first}. If that one was wrong: --correct-timezone.`,
  )
}
