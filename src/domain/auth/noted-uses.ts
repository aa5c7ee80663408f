import { sql, type SQL } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { isWriteFailure, noteWriteFailure } from '../../db/write-failures.ts'
import type { Panel } from '../../panel.ts'

/** Milliseconds for which the use of a credential is not noted again. */
const notedMs = 60_000
/** Milliseconds between two statements of a process that note uses. */
const pauseMs = 50
/** Milliseconds for which no use is noted after the database could not write. */
const failedMs = 10_000

/** Notes when credentials were used, in ISO 8601, by their ids; not those that were noted within the minute before. */
export type WriteUses<Id> = (db: Database, uses: Map<Id, string>) => Promise<unknown>

/** Returns uses as rows of `id` and `at`, whose types follow in the statement. */
export const toUses = <Id>(uses: Map<Id, string>): SQL =>
  sql`json_to_recordset(${JSON.stringify([...uses].map(([id, at]) => ({ id, at })))}::json)`

/** The uses that no statement has noted yet, whether one will, and when the last one ended and failed. */
type Noting = { uses: Map<unknown, string>; isWriting: boolean; wroteAt: number; failedAt: number }

const notings = new WeakMap<Database, Map<unknown, Noting>>()

/**
 * Notes that a credential is used, unless that was noted within the last minute (AU-11). Returns what a request has to
 * wait for: the first use is shown from then on. It does not wait for later ones; what is used within 50 ms of each other
 * is noted by one statement. While the database cannot write, nothing is.
 */
export function noteUse<Id>(
  panel: Panel,
  { id, notedAt }: { id: Id; notedAt: Date | null },
  write: WriteUses<Id>,
): Promise<void> | null {
  const now = panel.now()
  if (notedAt && now.getTime() - notedAt.getTime() <= notedMs) return null
  const noting = notingOf(panel.db, write)
  if (Math.abs(now.getTime() - noting.failedAt) <= failedMs) return null
  if (!notedAt) return writeNow(panel, noting, new Map([[id, now.toISOString()]]), write)
  noteLaterUse(panel, noting, { id, at: now.toISOString() }, write)
  return null
}

function noteLaterUse<Id>(
  panel: Panel,
  noting: Noting,
  { id, at }: { id: Id; at: string },
  write: WriteUses<Id>,
): void {
  // A request of a function cannot leave its work to another one.
  if (!panel.inFlight) return panel.defer(writeNow(panel, noting, new Map([[id, at]]), write))
  noting.uses.set(id, at)
  if (noting.isWriting) return
  noting.isWriting = true
  panel.defer(writeGathered(panel, noting, write))
}

function notingOf(db: Database, write: unknown): Noting {
  const ofDatabase = notings.get(db) ?? new Map<unknown, Noting>()
  notings.set(db, ofDatabase)
  const noting = ofDatabase.get(write) ?? {
    uses: new Map(),
    isWriting: false,
    wroteAt: -Infinity,
    failedAt: -Infinity,
  }
  ofDatabase.set(write, noting)
  return noting
}

async function writeGathered<Id>(panel: Panel, noting: Noting, write: WriteUses<Id>): Promise<void> {
  try {
    while (noting.uses.size > 0) {
      const restMs = noting.wroteAt + pauseMs - performance.now()
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
      const { uses } = noting
      noting.uses = new Map()
      await writeNow(panel, noting, uses as Map<Id, string>, write)
      noting.wroteAt = performance.now()
    }
  } finally {
    noting.isWriting = false
  }
}

async function writeNow<Id>(
  { db, now }: Panel,
  noting: Noting,
  uses: Map<Id, string>,
  write: WriteUses<Id>,
): Promise<void> {
  try {
    await write(db, uses)
  } catch (error) {
    if (!isWriteFailure(error)) throw error
    noteWriteFailure(db)
    noting.failedAt = now().getTime()
  }
}
