import { and, eq, inArray } from 'drizzle-orm'
import { scheduleRuns, scheduleSteps, subusers, tasks, users } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Tx } from '../../panel.ts'
import { isGranted, resolvePermissions } from '../permissions.ts'

/**
 * Whether those who are behind a step of a schedule may delete any backup of the server now: who last edited its task,
 * and who started its run by hand. Without it a schedule makes room among its own backups only (AZ-4). False when they
 * are not known.
 */
export async function maySchedulersDelete(tx: Tx, server: Server, stepId: number): Promise<boolean> {
  const [origin] = await tx.db
    .select({
      editorId: tasks.editorId,
      trigger: scheduleRuns.trigger,
      requestedBy: scheduleRuns.requestedBy,
    })
    .from(scheduleSteps)
    .innerJoin(scheduleRuns, eq(scheduleRuns.id, scheduleSteps.runId))
    .innerJoin(tasks, eq(tasks.id, scheduleSteps.taskId))
    .where(eq(scheduleSteps.id, stepId))
  if (!origin) return false
  const people = new Set(
    origin.trigger === 'manual' ? [origin.editorId, origin.requestedBy] : [origin.editorId],
  )
  const ids = [...people].filter((id) => id !== null)
  if (ids.length < people.size) return false
  const found = await tx.db
    .select({ id: users.id, rootAdmin: users.rootAdmin, permissions: subusers.permissions })
    .from(users)
    .leftJoin(subusers, and(eq(subusers.userId, users.id), eq(subusers.serverId, server.id)))
    .where(inArray(users.id, ids))
  return (
    found.length === ids.length &&
    found.every((user) => {
      const permissions = resolvePermissions(server, user, user.permissions)
      return permissions !== null && isGranted(permissions, 'backup.delete')
    })
  )
}
