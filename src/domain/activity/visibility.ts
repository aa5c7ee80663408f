import { type GrantedPermissions, isGranted, type Permission } from '../permissions.ts'

/**
 * The permission to see what an event of a server was about, by the beginning of its name: the one with which other
 * routes show the same. Null for what every user of the server sees.
 */
const permissionsByPrefix: readonly (readonly [prefix: string, permission: Permission | null])[] = [
  ['server:power.', null],
  ['server:settings.', null],
  ['server:reinstall', null],
  ['server:installation.', null],
  ['server:console.', 'control.console'],
  ['server:file.', 'file.read'],
  ['server:sftp.', 'file.read'],
  ['server:subuser.', 'user.read'],
  ['server:allocation.', 'allocation.read'],
  ['server:startup.', 'startup.read'],
  ['server:backup.', 'backup.read'],
  ['server.backup.', 'backup.read'],
  ['server:schedule.', 'schedule.read'],
  ['server:task.', 'schedule.read'],
  ['server:database.', 'database.read'],
]

/** Whether these permissions show the properties of an event. An event without a rule is for `*` only. */
export function showsProperties(granted: GrantedPermissions, event: string): boolean {
  if (granted.includes('*')) return true
  const rule = permissionsByPrefix.find(([prefix]) => event.startsWith(prefix))
  if (!rule) return false
  const [, permission] = rule
  return permission === null || isGranted(granted, permission)
}
