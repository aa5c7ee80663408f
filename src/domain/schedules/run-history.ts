import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { embedMany, embedOne } from '../../db/embed.ts'
import { paginate, type PageNumbers, type RowPage } from '../../db/pagination.ts'
import { jobs, scheduleRuns, schedules, scheduleSteps, users } from '../../db/schema.ts'
import type { ScheduleRun } from '../../db/tables/schedule-runs.ts'
import type { ScheduleStep } from '../../db/tables/schedule-steps.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { enqueueAll } from '../jobs.ts'
import { runKey } from './claims.ts'

/** A run with its steps in order, and the name of who asked for it by hand. */
export type RunWithSteps = ScheduleRun & { steps: ScheduleStep[]; requester: { username: string } | null }

/**
 * One page of the runs of a schedule, the newest first, in one statement. Refuses with 404 one that is not the
 * server's. Extension: runs of schedules.
 */
export async function listRuns(
  panel: Panel,
  server: { id: number },
  scheduleId: number,
  numbers: PageNumbers,
): Promise<RowPage<RunWithSteps>> {
  const page = await paginate(panel.db, {
    ...numbers,
    table: scheduleRuns,
    where: eq(scheduleRuns.scheduleId, scheduleId),
    orderBy: [desc(scheduleRuns.startedAt)],
    alsoCounted: sql<number>`(select count(*)::int from ${schedules}
      where ${schedules}.id = ${scheduleId} and ${schedules}.server_id = ${server.id})`,
    fields: {
      steps: embedMany(scheduleSteps, {
        where: (each) => eq(each.runId, scheduleRuns.id),
        orderBy: (each) => sql`${each.sequenceId}`,
      }),
      requester: embedOne(users, { where: (each) => eq(each.id, scheduleRuns.requestedBy) }),
    },
  })
  if (page.alsoCounted === 0) throw notFound()
  return page as RowPage<RunWithSteps>
}

/** Milliseconds after which a run that nobody carries on is looked after. */
const patience = 2 * 60_000

/** A run that is under way has a job which carries it on, whatever became of the one before. Returns how many had none. */
export async function recoverRuns(panel: Panel): Promise<number> {
  const before = new Date(panel.now().getTime() - patience)
  const isCarried = sql`exists (select 1 from ${jobs}
    where ${jobs.key} = ${runKey('')} || ${scheduleRuns.id} and ${jobs.state} = 'waiting')`
  const lost = await panel.db
    .select({ id: scheduleRuns.id })
    .from(scheduleRuns)
    .where(and(eq(scheduleRuns.state, 'running'), lt(scheduleRuns.startedAt, before), sql`not ${isCarried}`))
    .limit(1000)
  const runAt = panel.now()
  await enqueueAll(
    panel,
    'run-schedule',
    lost.map(({ id }) => ({ payload: { runId: id }, key: runKey(id), runAt })),
  )
  return lost.length
}
