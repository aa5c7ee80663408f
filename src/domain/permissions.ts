/** Permissions of subusers, by group. */
export const permissionGroups = {
  websocket: {
    description: "Live connection to the server's console and statistics.",
    keys: { connect: 'Open the live console stream.' },
  },
  control: {
    description: 'Power state and console commands.',
    keys: {
      console: 'Send commands to the console.',
      start: 'Start a stopped server.',
      stop: 'Stop or kill a running server.',
      restart: 'Restart the server; also starts a stopped one.',
    },
  },
  user: {
    description:
      'Subusers of the server. Users cannot change themselves or grant permissions that they lack.',
    keys: {
      create: 'Invite a subuser.',
      read: 'See subusers and their permissions.',
      update: 'Change the permissions of a subuser.',
      delete: 'Remove a subuser.',
    },
  },
  file: {
    description: "The server's file system.",
    keys: {
      create: 'Add files and folders, also by upload.',
      read: 'List folders without opening files.',
      'read-content': 'Open and download files.',
      update: 'Change existing files: content, name, mode.',
      delete: 'Delete files.',
      archive: 'Create and extract archives.',
      sftp: 'Log in over SFTP, with the other file permissions.',
    },
  },
  backup: {
    description: 'Backups of the server.',
    keys: {
      create: 'Create a backup.',
      read: 'List backups.',
      delete: 'Delete and lock backups.',
      download: 'Download an archive, which contains every file of the server.',
      restore: 'Restore a backup, which can delete all current files.',
    },
  },
  allocation: {
    description: 'Allocations of the server.',
    keys: {
      read: 'See all allocations; the primary one is always visible.',
      create: 'Add an allocation.',
      update: 'Change notes and the primary allocation.',
      delete: 'Remove an allocation.',
    },
  },
  startup: {
    description: 'Startup configuration.',
    keys: {
      read: 'See the variables.',
      update: 'Change the variables.',
      'docker-image': 'Choose the container image.',
    },
  },
  database: {
    description: 'Databases of the server.',
    keys: {
      create: 'Create a database.',
      read: 'See the databases.',
      update: 'Rotate the password of a database.',
      delete: 'Delete a database.',
      view_password: 'Reveal passwords.',
    },
  },
  schedule: {
    description: 'Schedules of the server.',
    keys: {
      create: 'Create a schedule.',
      read: 'See schedules and their tasks.',
      update: 'Change and run schedules and their tasks.',
      delete: 'Delete a schedule.',
    },
  },
  settings: {
    description: 'Server settings.',
    keys: { rename: 'Change name and description.', reinstall: 'Reinstall the server.' },
  },
  activity: {
    description: 'Activity log of the server.',
    keys: { read: 'See the log.' },
  },
} as const

type Groups = typeof permissionGroups
/** `group.key`, as it is stored and as tokens contain it. */
export type Permission = { [G in keyof Groups]: `${G}.${keyof Groups[G]['keys'] & string}` }[keyof Groups]

/** All permissions, in the order of the catalogue. */
export const allPermissions = Object.entries(permissionGroups).flatMap(([group, { keys }]) =>
  Object.keys(keys).map((key) => `${group}.${key}` as Permission),
)

/** What the caller may do on a server; `*` grants everything. */
export type GrantedPermissions = readonly string[]

const ownerPermissions: GrantedPermissions = ['*']
const administratorPermissions: GrantedPermissions = [
  '*',
  'admin.websocket.errors',
  'admin.websocket.install',
  'admin.websocket.transfer',
]

/** Whether the list grants the permission. */
export const isGranted = (granted: GrantedPermissions, permission: Permission) =>
  granted.includes('*') || granted.includes(permission)

/**
 * Returns what a user may do on a server, or null without access. Administrators and owners may do
 * everything.
 */
export function resolvePermissions(
  server: { ownerId: number },
  user: { id: number; rootAdmin: boolean },
  subuserPermissions: string[] | null,
): GrantedPermissions | null {
  if (user.rootAdmin) return administratorPermissions
  return server.ownerId === user.id ? ownerPermissions : subuserPermissions
}
