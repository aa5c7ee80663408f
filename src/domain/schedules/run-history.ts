import { desc, eq, sql } from 'drizzle-orm'
import { embedMany, embedOne } from '../../db/embed.ts'
import { paginate, type PageNumbers, type RowPage } from '../../db/pagination.ts'
import { scheduleRuns, schedules, scheduleSteps, users } from '../../db/schema.ts'
import type { ScheduleRun } from '../../db/tables/schedule-runs.ts'
import type { ScheduleStep } from '../../db/tables/schedule-steps.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

/** A run with its steps in order, and the user who started it by hand. */
export type RunWithSteps = ScheduleRun & { steps: ScheduleStep[]; requester: { username: string } | null }

/** Selects the steps of a run by their sequence. */
export const embedSteps = () =>
  embedMany(scheduleSteps, {
    where: (each) => eq(each.runId, scheduleRuns.id),
    orderBy: (each) => sql`${each.sequenceId}`,
  })

/**
 * Lists a page of the runs of a schedule, newest first, in one statement. Refuses with 404 a schedule of another
 * server. Spec: getClientServersByServerSchedulesByScheduleRuns.
 */
export async function listRuns(
  panel: Panel,
  server: { id: number },
  scheduleId: number,
  pageNumbers: PageNumbers,
): Promise<RowPage<RunWithSteps>> {
  const page = await paginate(panel.db, {
    ...pageNumbers,
    table: scheduleRuns,
    where: eq(scheduleRuns.scheduleId, scheduleId),
    orderBy: [desc(scheduleRuns.startedAt)],
    extraCount: sql<number>`(select count(*)::int from ${schedules}
      where ${schedules}.id = ${scheduleId} and ${schedules}.server_id = ${server.id})`,
    fields: {
      steps: embedSteps(),
      requester: embedOne(users, { where: (each) => eq(each.id, scheduleRuns.requestedBy) }),
    },
  })
  if (page.extraCount === 0) throw notFound()
  return page as RowPage<RunWithSteps>
}
