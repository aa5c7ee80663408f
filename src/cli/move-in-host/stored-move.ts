import { eq, sql } from 'drizzle-orm'
import type {
  MoveInDifference,
  MoveInFault,
  MoveInKind,
  MoveInProgress,
  MoveInReport,
  MoveInStage,
} from '../../adapters/move-in.ts'
import { single } from '../../db/database.ts'
import { oneRow } from '../../db/data-column.ts'
import { movedRows, settings } from '../../db/schema.ts'
import { moveInKeysRow } from '../../domain/move-in/move-in.ts'
import { decrypt, encrypt, type SecretLocation } from '../../domain/secrets.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { firstZone } from '../move-in/first-zone.ts'

/** The row of the settings with the move; no setting has its name. */
const moveRow = 'move_in'
/** Key of the advisory lock of whatever changes it. */
const lockKey = 7_261_531
const keysLocation: SecretLocation = { table: 'settings', column: 'value', row: moveInKeysRow }

/** The only move of the panel, as every process and machine sees it. Times are those of `toISOString`. */
export type StoredMove = {
  /** Names its dump on the disk. */
  id: string
  stage: MoveInStage
  /** Where the dump lies. */
  machine: string
  file: { name: string; size: number }
  kind: MoveInKind | null
  timezone: string | null
  /** Whether it replaces that of the first move; not in records of older versions. */
  correctTimezone?: boolean
  dumpTimezone: string | null
  ignoreColumns: string[]
  startedBy: string
  /** Names the work in progress: a result of other work is not stored. */
  run: string | null
  isCancelling: boolean
  /** When the process that works on it was last there. */
  beatAt: string
  expiresAt: string | null
  progress: MoveInProgress | null
  report: MoveInReport | null
  differences: MoveInDifference[] | null
  fault: MoveInFault | null
}

/** Reads the move, whether rows moved in before, and the zone of schedules that did. One statement. */
export async function readMove(
  tx: Pick<Tx, 'db'>,
): Promise<{ move: StoredMove | null; hasMoved: boolean; firstTimezone: string | null }> {
  const found = single(
    await tx.db
      .select({
        text: sql<string | null>`(select value::text from ${settings} where key = ${moveRow})`,
        hasMoved: sql<boolean>`exists (select 1 from ${movedRows})`,
        firstTimezone: firstZone,
      })
      .from(oneRow),
  )
  return {
    move: found.text === null ? null : (JSON.parse(found.text) as StoredMove),
    hasMoved: found.hasMoved,
    firstTimezone: found.firstTimezone,
  }
}

/**
 * Changes the move while no other process does. `change` returns what it becomes, null deletes it, and undefined leaves
 * it as it is; what it throws changes nothing. Returns what is stored then.
 */
export async function changeMove(
  panel: Panel,
  change: (move: StoredMove | null, tx: Tx) => Changed | Promise<Changed>,
): Promise<StoredMove | null> {
  return inTransaction(panel, async (tx) => {
    await tx.db.execute(sql`select pg_advisory_xact_lock(${lockKey})`)
    const { move } = await readMove(tx)
    const value = await change(move, tx)
    if (value === undefined) return move
    if (value === null) await tx.db.delete(settings).where(eq(settings.key, moveRow))
    else
      await tx.db
        .insert(settings)
        .values({ key: moveRow, value })
        .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt: tx.now() } })
    return value
  })
}
type Changed = StoredMove | null | undefined

/** What the `.env` of the other panel says: its keys, and values by name. */
type OldSecrets = { keys: string[]; env: Record<string, string> | null }

/** Stores what the `.env` of the other panel says, encrypted; it replaces what was there. */
export async function storeSecrets(tx: Tx, secrets: OldSecrets): Promise<void> {
  const value = await encrypt(tx, JSON.stringify(secrets), keysLocation)
  await tx.db
    .insert(settings)
    .values({ key: moveInKeysRow, value })
    .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt: tx.now() } })
}

/** Reads what the `.env` of the other panel says. Throws when it is deleted. */
export async function readSecrets(panel: Panel): Promise<OldSecrets> {
  const found = await panel.db
    .select({ text: sql<string>`${settings.value} #>> '{}'` })
    .from(settings)
    .where(eq(settings.key, moveInKeysRow))
  return JSON.parse(await decrypt(panel, single(found).text, keysLocation)) as OldSecrets
}

/** Deletes the keys of the other panel. */
export async function deleteKeys(tx: Tx): Promise<void> {
  await tx.db.delete(settings).where(eq(settings.key, moveInKeysRow))
}
