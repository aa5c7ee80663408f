/** What a subuser may be allowed to do on a server, by group. */
export const permissionGroups = {
  websocket: {
    description: "Live connection to the server's console and statistics.",
    keys: { connect: 'Open the live console stream.' },
  },
  control: {
    description: 'Power state and console commands.',
    keys: {
      console: 'Type commands into the console.',
      start: 'Boot a stopped server.',
      stop: 'Halt a running server, also by force.',
      restart: 'Cycle the server; may boot it, may not leave it stopped.',
    },
  },
  user: {
    description: 'The other people with access. Nobody edits themselves or hands out rights they lack.',
    keys: {
      create: 'Invite a person.',
      read: 'See people and their rights.',
      update: "Change a person's rights.",
      delete: 'Remove a person.',
    },
  },
  file: {
    description: "The server's file system.",
    keys: {
      create: 'Add files and folders, also by upload.',
      read: 'List folders without opening files.',
      'read-content': 'Open and download files.',
      update: 'Change, rename or re-mode existing files.',
      delete: 'Remove files.',
      archive: 'Pack files and unpack archives.',
      sftp: 'Log in over SFTP with the other file rights.',
    },
  },
  backup: {
    description: 'Making and handling backups.',
    keys: {
      create: 'Start a backup.',
      read: 'List backups.',
      delete: 'Remove and lock backups.',
      download: 'Fetch an archive, which exposes every file in it.',
      restore: 'Overwrite the server from a backup; may wipe files.',
    },
  },
  allocation: {
    description: 'Addresses and ports.',
    keys: {
      read: 'See all of them; the primary one is always visible.',
      create: 'Add one.',
      update: 'Change notes and the primary one.',
      delete: 'Give one back.',
    },
  },
  startup: {
    description: 'Startup parameters.',
    keys: {
      read: 'See the variables.',
      update: 'Change the variables.',
      'docker-image': 'Pick the container image.',
    },
  },
  database: {
    description: 'Databases of the server.',
    keys: {
      create: 'Create a database.',
      read: 'See the databases.',
      update: 'Rotate a password.',
      delete: 'Remove a database.',
      view_password: 'Reveal passwords.',
    },
  },
  schedule: {
    description: 'Scheduled work.',
    keys: {
      create: 'Create a schedule.',
      read: 'See schedules and their tasks.',
      update: 'Change schedules and tasks, and run them.',
      delete: 'Remove a schedule.',
    },
  },
  settings: {
    description: 'Server settings.',
    keys: { rename: 'Change name and description.', reinstall: 'Run the installer again.' },
  },
  activity: {
    description: 'Activity log of the server.',
    keys: { read: 'See the log.' },
  },
} as const

type Groups = typeof permissionGroups
/** `group.key`, as it is stored and as tokens carry it. */
export type Permission = { [G in keyof Groups]: `${G}.${keyof Groups[G]['keys'] & string}` }[keyof Groups]

/** Every permission there is, in the order of the catalogue. */
export const allPermissions = Object.entries(permissionGroups).flatMap(([group, { keys }]) =>
  Object.keys(keys).map((key) => `${group}.${key}` as Permission),
)

/** What the caller may do on one server: words as the wire has them, `*` for everything. */
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

/** What a person may do on a server: null for strangers. Administrators and owners hold everything. */
export function permissionsOn(
  server: { ownerId: number },
  user: { id: number; rootAdmin: boolean },
  subuserPermissions: string[] | null,
): GrantedPermissions | null {
  if (user.rootAdmin) return administratorPermissions
  return server.ownerId === user.id ? ownerPermissions : subuserPermissions
}
