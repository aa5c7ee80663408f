import type { Task } from '../../db/tables/tasks.ts'
import type { Permission } from '../permissions.ts'
import { powerPermissions } from '../servers/control.ts'

/** Refuses with 403 when the caller lacks the permission of an action that is stored or about to be. */
export type PermissionCheck = (permission: Permission) => void

/** Returns the permission that a user needs to create, change or run a task with this action (AZ-4). */
export function getRequiredPermission(task: {
  action: Task['action']
  payload?: string | null | undefined
}): Permission {
  if (task.action === 'command') return 'control.console'
  if (task.action === 'backup') return 'backup.create'
  return powerPermissions[task.payload as keyof typeof powerPermissions] ?? 'control.stop'
}
