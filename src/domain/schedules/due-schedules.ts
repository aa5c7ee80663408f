import { and, eq, lte, sql } from 'drizzle-orm'
import { schedules } from '../../db/schema.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { nextRuns } from './cron.ts'
import { reasons } from './reasons.ts'
import { readCronTimes, type ScheduleWithTasks, withTasks } from './schedules.ts'
import { type RunRow, startRuns } from './start-runs.ts'

/** Schedules that one transaction claims. */
const batchSize = 1000
/** Milliseconds by which a run may be late, unless the next time of its schedule is later. */
export const maxLatenessMs = 15 * 60_000

/**
 * Claims every due schedule: creates its run, or the record that it was skipped because it is too late, and
 * stores its next time. Creates at most one run per due time under concurrency (P-1), in three statements per 1,000
 * schedules, and one when nothing is due. Starts no further batch after `until`. Returns how many were due.
 */
export async function claimDueSchedules(panel: Panel, until: Date | null = null): Promise<number> {
  // Most ticks find nothing, and need no transaction to see it.
  const [due] = await panel.db.select({ id: schedules.id }).from(schedules).where(isDue(panel.now())).limit(1)
  if (!due) return 0
  let claimed = 0
  for (;;) {
    const count = await inTransaction(panel, claimBatch)
    claimed += count
    if (count < batchSize || (until !== null && panel.now() >= until)) return claimed
  }
}

/**
 * A schedule with the run to create. Without a next time, because its fields were stored unchecked, it is never
 * due again.
 */
type Claim = { schedule: ScheduleWithTasks; run: RunRow | null; next: Date | null }

const isDue = (now: Date) =>
  and(eq(schedules.isActive, true), eq(schedules.isProcessing, false), lte(schedules.nextRunAt, now))

async function claimBatch(tx: Tx): Promise<number> {
  const now = tx.now()
  const due = await tx.db
    .select(withTasks())
    .from(schedules)
    .where(isDue(now))
    .orderBy(schedules.nextRunAt)
    .limit(batchSize)
    .for('update', { skipLocked: true })
  if (due.length === 0) return 0
  const claims = due.map((schedule) => createClaim(schedule, now))
  const started = await startRuns(
    tx,
    claims.flatMap(({ run, schedule }) => (run ? [{ run, schedule }] : [])),
  )
  await storeNextRuns(tx, claims, started)
  return due.length
}

/** Decides what happens to a due schedule: without tasks there is no run. */
function createClaim(schedule: ScheduleWithTasks, now: Date): Claim {
  const next = findNextRun(schedule, now)
  if (schedule.tasks.length === 0) return { schedule, run: null, next }
  const dueAt = schedule.nextRunAt ?? now
  const isLate = isTooLate(schedule, dueAt, now)
  const run: RunRow = {
    id: crypto.randomUUID(),
    scheduleId: schedule.id,
    trigger: 'cron',
    dueAt,
    startedAt: now,
    ...(isLate ? { state: 'skipped', reason: reasons.panel_away, finishedAt: now } : {}),
  }
  return { schedule, run, next }
}

/** Whether a run is skipped because it is late by more than 15 minutes and its next time has passed as well. */
export function isTooLate(schedule: Schedule, dueAt: Date, now: Date): boolean {
  if (now.getTime() - dueAt.getTime() <= maxLatenessMs) return false
  const nextDueAt = findNextRun(schedule, dueAt)
  return nextDueAt === null || nextDueAt < now
}

/** Returns null without a next time or for fields that cannot be parsed: one such row must not block the others. */
function findNextRun(schedule: Schedule, after: Date): Date | null {
  try {
    return nextRuns(readCronTimes(schedule), after, 1)[0] ?? null
  } catch {
    return null
  }
}

/** Stores the next times, and which schedules are processing, in one statement. */
async function storeNextRuns(tx: Tx, claims: Claim[], started: ReadonlySet<string>): Promise<void> {
  const rows = claims.map(({ schedule, run, next }) => ({
    id: schedule.id,
    next: next?.toISOString() ?? null,
    processing: run !== null && started.has(run.id),
  }))
  await tx.db.execute(sql`
    update ${schedules} set next_run_at = claimed.next, is_processing = claimed.processing
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as claimed(id int, next timestamptz, processing boolean)
    where ${schedules}.id = claimed.id`)
}
