import { and, eq, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { rowsOf, uniqueViolation } from '../../db/database.ts'
import { paginate, type RowPage } from '../../db/pagination.ts'
import { jobs } from '../../db/schema.ts'
import type { Job } from '../../db/tables/jobs.ts'
import { conflict, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { combineFilters, type ListRequest } from '../filters.ts'

const filters = {
  // Names that are no state match nothing, without a look at the table.
  state: (values: string[]) =>
    inArray(
      jobs.state,
      jobs.state.enumValues.filter((state) => values.includes(state)),
    ),
}

/** Fields that `filter` takes. */
export const jobFilters = [...Object.keys(filters), 'name']

/**
 * Lists one page of jobs: waiting ones first, the next to run on top, then finished ones, the last finished on
 * top. Filters `state`, `name`.
 */
export async function listJobs(panel: Panel, request: ListRequest): Promise<RowPage<Job>> {
  const { name = [], ...others } = request.filters
  const ofName = name.length > 0 ? hasName(await findNames(panel, name)) : undefined
  return paginate(panel.db, {
    ...request,
    table: jobs,
    search: and(combineFilters(filters, others), ofName),
    orderBy: [sql`${jobs.finishedAt} desc nulls first`, sql`${jobs.runAt}`],
  })
}

/** Finds the names of jobs that contain one of the texts. There are few, and the index leads from one to the next. */
async function findNames(panel: Panel, texts: string[]): Promise<string[]> {
  const result = await panel.db.execute(sql`
    with recursive names (name) as (
      (select name from ${jobs} order by name limit 1)
      union all
      select (select name from ${jobs} where name > names.name order by name limit 1) from names
      where names.name is not null
    ) select name from names where name is not null`)
  return rowsOf<{ name: string }>(result)
    .map(({ name }) => name)
    .filter((name) => texts.some((text) => name.toLowerCase().includes(text.toLowerCase())))
}

/** Written into the statement: the plan for a parameter could not know how rare a name is. */
const hasName = (names: string[]): SQL =>
  names.length === 0 ? sql`false` : sql`${jobs.name} in (${sql.raw(names.map(escapeLiteral).join())})`

const escapeLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Milliseconds until the deadline of a job that is retried by hand. */
const retryLifetimeMs = 86_400_000

/**
 * Makes a dead job, or one that waits for its next attempt, due now and gives it a day. Records
 * `admin:job.retry`. Refuses with 404; with 409 a job that is done or running, or whose key another waiting job
 * has.
 */
export async function retryJob(panel: Panel, id: string): Promise<Job> {
  const now = panel.now()
  const retryValues = {
    state: 'waiting' as const,
    runAt: now,
    deadlineAt: new Date(now.getTime() + retryLifetimeMs),
    attempts: 0,
    leasedUntil: null,
    finishedAt: null,
    // A worker whose lease has ended must not finish it.
    fence: sql`${jobs.fence} + 1`,
  }
  try {
    return await inTransaction(panel, async (tx) => {
      const [job] = await tx.db.update(jobs).set(retryValues).where(isNotRunning(id, now)).returning()
      if (!job) throw await retryRefusal(tx, id)
      await recordEvent(tx, 'admin:job.retry', toJobActivity(job))
      tx.wake([job])
      return job
    })
  } catch (error) {
    if (!uniqueViolation(error)?.includes('key')) throw error
    throw conflict('job_waiting', 'Another job that does the same is waiting.')
  }
}

/**
 * Deletes a dead job, or one that waits for its next attempt; its work is not done. Records
 * `admin:job.discard`. Refuses with 404, with 409 a job that is done or running.
 */
export async function discardJob(panel: Panel, id: string): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const [job] = await tx.db.delete(jobs).where(isNotRunning(id, tx.now())).returning()
    if (!job) throw await retryRefusal(tx, id)
    await recordEvent(tx, 'admin:job.discard', toJobActivity(job))
  })
}

/** Matches the job if it is dead, or waiting without a valid lease. */
const isNotRunning = (id: string, now: Date) =>
  and(
    eq(jobs.id, id),
    or(
      eq(jobs.state, 'dead'),
      and(eq(jobs.state, 'waiting'), or(isNull(jobs.leasedUntil), lt(jobs.leasedUntil, now))),
    ),
  )

async function retryRefusal(tx: Tx, id: string): Promise<Error> {
  const [job] = await tx.db.select({ state: jobs.state }).from(jobs).where(eq(jobs.id, id))
  if (!job) return notFound()
  return job.state === 'done'
    ? conflict('job_done', 'The job is done.')
    : conflict('job_running', 'The job is running.')
}

const toJobActivity = ({ id, name }: Job) => ({ properties: { job: id, name } })
