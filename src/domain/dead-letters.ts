import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import { uniqueViolation } from '../db/database.ts'
import { paginate, type RowPage } from '../db/pagination.ts'
import { jobs } from '../db/schema.ts'
import type { Job } from '../db/tables/jobs.ts'
import { conflict, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { record } from './activity.ts'
import { allFilters, containing, equalling, type ListRequest } from './filters.ts'

const filters = { state: equalling(jobs.state), name: containing(jobs.name) }

/** Fields that `filter` takes. */
export const jobFilters = Object.keys(filters)

/** One page of jobs: those that wait, the next to run first, then the others, the last to end first. Filters `state`, `name`. */
export function listJobs(panel: Panel, request: ListRequest): Promise<RowPage<Job>> {
  return paginate(panel.db, {
    ...request,
    table: jobs,
    where: allFilters(filters, request.filters),
    orderBy: [sql`${jobs.finishedAt} desc nulls first`, sql`${jobs.runAt}`],
  })
}

/** Milliseconds for which a job that was begun anew is tried. */
const newLifetime = 86_400_000

/**
 * A job that was given up, or waits for its next try, is due now and has a day for it. Records `admin:job.retry`.
 * Refuses with 404, with 409 one that is done or running, or whose work another job does.
 */
export async function retryJob(panel: Panel, id: string): Promise<Job> {
  const now = panel.now()
  const anew = {
    state: 'waiting' as const,
    runAt: now,
    deadlineAt: new Date(now.getTime() + newLifetime),
    attempts: 0,
    leasedUntil: null,
    finishedAt: null,
    // Whoever ran it until now does not count any more.
    fence: sql`${jobs.fence} + 1`,
  }
  try {
    return await inTransaction(panel, async (inside) => {
      const [job] = await inside.db.update(jobs).set(anew).where(untouched(id, now)).returning()
      if (!job) throw await refusalOf(inside, id)
      await record(inside, 'admin:job.retry', occurrenceOf(job))
      inside.wake([job])
      return job
    })
  } catch (error) {
    if (!uniqueViolation(error)?.includes('key')) throw error
    throw conflict('Another job waits that does the same.')
  }
}

/**
 * A job that was given up, or waits for its next try, is gone and its work left undone. Records
 * `admin:job.discard`. Refuses with 404, with 409 one that is done or running.
 */
export async function discardJob(panel: Panel, id: string): Promise<void> {
  await inTransaction(panel, async (inside) => {
    const [job] = await inside.db.delete(jobs).where(untouched(id, inside.now())).returning()
    if (!job) throw await refusalOf(inside, id)
    await record(inside, 'admin:job.discard', occurrenceOf(job))
  })
}

/** Nobody has it in his hands, and it is not done. */
const untouched = (id: string, now: Date) =>
  and(
    eq(jobs.id, id),
    or(
      eq(jobs.state, 'dead'),
      and(eq(jobs.state, 'waiting'), or(isNull(jobs.leasedUntil), lt(jobs.leasedUntil, now))),
    ),
  )

async function refusalOf(panel: Panel, id: string): Promise<Error> {
  const [job] = await panel.db.select({ state: jobs.state }).from(jobs).where(eq(jobs.id, id))
  if (!job) return notFound()
  return conflict(job.state === 'done' ? 'The job is done.' : 'The job is running just now.')
}

const occurrenceOf = ({ id, name }: Job) => ({ properties: { job: id, name } })
