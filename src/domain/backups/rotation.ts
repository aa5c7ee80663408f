import { and, desc, eq, inArray, isNull } from 'drizzle-orm'
import { backups, scheduleRuns, scheduleSteps, subusers, tasks, users } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Tx } from '../../panel.ts'
import { isGranted, resolvePermissions } from '../permissions.ts'
import { beginRemoval } from './remove.ts'

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

/**
 * Begins to remove the backups of schedules that are beyond what the task of a complete backup keeps: the oldest
 * successful ones that are not locked. Their jobs delete the archives and record `server:backup.delete`. Call it in the
 * transaction that completes the backup, with its server locked. Spec: docs/schedules.md#tasks.
 */
export async function removeBackupsBeyond(tx: Tx, { serverId, stepId }: Backup): Promise<void> {
  if (stepId === null) return
  const [task] = await tx.db
    .select({ keepBackups: tasks.keepBackups })
    .from(scheduleSteps)
    .innerJoin(tasks, eq(tasks.id, scheduleSteps.taskId))
    .where(eq(scheduleSteps.id, stepId))
  if (!task || task.keepBackups === null) return
  const beyond = await tx.db
    .select()
    .from(backups)
    .where(
      and(
        eq(backups.serverId, serverId),
        eq(backups.isScheduled, true),
        eq(backups.isSuccessful, true),
        eq(backups.isLocked, false),
        isNull(backups.deletingAt),
      ),
    )
    .orderBy(desc(backups.createdAt), desc(backups.id))
    .offset(task.keepBackups)
    .for('update')
  for (const backup of beyond) await beginRemoval(tx, backup)
}
