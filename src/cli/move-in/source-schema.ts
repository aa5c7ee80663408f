import type { Spool } from './spool.ts'

/** The panel that a database belongs to. */
export type SourceKind = 'pterodactyl' | 'pelican'

/** Tables that are read, in any order; those of activity besides. */
export const movedTables = [
  'users',
  'user_ssh_keys',
  'api_keys',
  'recovery_tokens',
  'roles',
  'permissions',
  'role_has_permissions',
  'model_has_roles',
  'locations',
  'nodes',
  'allocations',
  'nests',
  'eggs',
  'egg_variables',
  'mounts',
  'egg_mount',
  'mount_node',
  'mount_server',
  'mountables',
  'servers',
  'server_variables',
  'subusers',
  'database_hosts',
  'database_host_node',
  'databases',
  'backup_hosts',
  'backups',
  'schedules',
  'tasks',
  'passkeys',
  'settings',
]

/** Tables of activity, in the order in which they are read. */
export const activityTables = ['activity_logs', 'activity_log_subjects', 'audit_logs']

/** Tables of the old panel that do not move; docs/moving-in.md says what this means. */
const leftTables = new Set([
  ...activityTables,
  'api_logs',
  'failed_jobs',
  'jobs',
  'job_batches',
  'migrations',
  'notifications',
  'cache',
  'password_resets',
  'server_transfers',
  'sessions',
  'tasks_log',
  'backup_host_node',
  'model_has_permissions',
  'node_role',
  'server_user_settings',
  'webhook_configurations',
  'webhooks',
  'cache_locks',
])

/** Columns without which a table cannot be moved, for both panels and for one. */
const neededColumns: Record<'both' | SourceKind, Record<string, string[]>> = {
  both: {
    users: ['id', 'uuid', 'username', 'email', 'password'],
    api_keys: ['id', 'user_id', 'key_type', 'identifier', 'token'],
    nodes: ['id', 'uuid', 'name', 'fqdn', 'memory', 'disk', 'daemon_token_id', 'daemon_token'],
    allocations: ['id', 'node_id', 'ip', 'port', 'server_id'],
    eggs: ['id', 'uuid', 'name', 'docker_images'],
    egg_variables: ['id', 'egg_id', 'env_variable'],
    servers: ['id', 'uuid', 'node_id', 'owner_id', 'egg_id', 'allocation_id', 'memory', 'startup', 'image'],
    server_variables: ['server_id', 'variable_id', 'variable_value'],
    subusers: ['id', 'user_id', 'server_id', 'permissions'],
    schedules: ['id', 'server_id', 'cron_minute', 'cron_hour'],
    tasks: ['id', 'schedule_id', 'sequence_id', 'action', 'payload', 'time_offset'],
    database_hosts: ['id', 'host', 'username', 'password'],
    databases: ['id', 'server_id', 'database_host_id', 'database', 'username', 'password'],
    backups: ['id', 'server_id', 'uuid'],
  },
  pterodactyl: {
    users: ['root_admin', 'use_totp', 'totp_secret'],
    nodes: ['location_id', 'daemonListen', 'daemonSFTP'],
    eggs: ['nest_id', 'startup'],
    servers: ['uuidShort'],
    locations: ['id', 'short'],
    nests: ['id', 'uuid', 'name'],
    backups: ['disk'],
  },
  pelican: {
    users: ['mfa_app_secret'],
    nodes: ['daemon_listen', 'daemon_sftp'],
    eggs: ['startup_commands'],
    servers: ['uuid_short'],
    roles: ['id', 'name'],
    model_has_roles: ['role_id', 'model_id'],
    backups: ['backup_host_id'],
  },
}

/** Which panel a schema is of; undefined without servers. */
export const kindOfSchema = ({ columns }: Pick<Spool, 'columns'>): SourceKind | undefined => {
  const servers = columns.get('servers')
  return servers && (servers.includes('uuid_short') ? 'pelican' : 'pterodactyl')
}

/**
 * Returns the tables of the old panel that nothing is known about. Throws with what is missing where the schema is not
 * one of this panel that the import knows: Pterodactyl 1.7 to 1.12, or a Pelican of 2026.
 */
export function requireKnownSchema(
  kind: SourceKind,
  { columns, unknownValues }: Spool,
  ignored: readonly string[] = [],
): string[] {
  const looksLike = kindOfSchema({ columns })
  if (looksLike && looksLike !== kind)
    throw new Error(`This is the database of ${looksLike}: use import:${looksLike}.`)
  const missing = [neededColumns.both, neededColumns[kind]].flatMap((tables) =>
    Object.entries(tables).flatMap(([table, names]) => {
      const found = columns.get(table)
      return found ? names.filter((name) => !found.includes(name)).map((name) => `${table}.${name}`) : [table]
    }),
  )
  if (missing.length > 0)
    throw new Error(
      `The schema is not one of ${kind} that can be moved. It lacks: ${[...new Set(missing)].join(', ')}.`,
    )
  const unread = [...unknownValues].filter(([column]) => !ignored.includes(column))
  if (unread.length > 0)
    throw new Error(
      `Nothing is known about columns that hold something: ${unread.map(([column, rows]) => `${column} (${rows} rows)`).join(', ')}. ` +
        `Leave them behind with --ignore-columns ${unread.map(([column]) => column).join(',')}, or empty them.`,
    )
  return [...columns.keys()].filter((table) => !movedTables.includes(table) && !leftTables.has(table))
}

/** Returns the versions of the old panel that have this schema. */
export function versionOf(kind: SourceKind, { columns }: Spool): string {
  if (kind === 'pelican') return 'Pelican, beta of 2026'
  if (!columns.has('user_ssh_keys')) return 'Pterodactyl 1.7'
  const isLate = [
    ['api_keys', 'expires_at'],
    ['eggs', 'force_outgoing_ip'],
    ['servers', 'installed_at'],
  ].every(([table = '', column = '']) => columns.get(table)?.includes(column))
  return isLate ? 'Pterodactyl 1.11 or 1.12' : 'Pterodactyl 1.8 to 1.10'
}

/** The location and the nest of what comes from Pelican, which has neither. Their ids are 1. */
export async function addPelicanGroups(spool: Spool): Promise<void> {
  await spool.add('locations', [{ id: 1, short: 'pelican', long: 'Nodes from Pelican' }])
  const uuid = '6ad03b04-9a5e-4f0e-8f8b-6a1d2d5c7e11'
  await spool.add('nests', [
    { id: 1, uuid, author: 'imported@roost.example', name: 'Pelican', description: null },
  ])
}
