/**
 * Tables of the old panels, one a line: columns with their types (`?` nullable, `=x` default, u8 to u64 and i32 integers),
 * unique keys, and references with what a deletion does.
 */
const common = `
api_logs: id u32, authorized bool, error text?, key char(16)?, method char(6), route text, content text?, user_agent text, request_ip varchar(45), created_at timestamp?, updated_at timestamp? |  | 
server_variables: id u32, server_id u32?, variable_id u32, variable_value text, created_at timestamp?, updated_at timestamp? |  | server_id→servers cascade; variable_id→egg_variables cascade
subusers: id u32, user_id u32, server_id u32, permissions json?, created_at timestamp?, updated_at timestamp? |  | server_id→servers cascade; user_id→users cascade
tasks_log: id u32, task_id u32, run_time timestamp, run_status u32, response text, created_at timestamp?, updated_at timestamp? |  | 
`

/** Pterodactyl 1.11 and 1.12, which have one schema. */
const pterodactyl = `
activity_log_subjects: id u64, activity_log_id u64, subject_type varchar(191), subject_id u64 |  | activity_log_id→activity_logs cascade
activity_logs: id u64, batch char(36)?, event varchar(191), ip varchar(191), description text?, actor_type varchar(191)?, actor_id u64?, api_key_id u32?, properties json, timestamp timestamp=current_timestamp() |  | 
allocations: id u32, node_id u32, ip varchar(191), ip_alias text?, port u24, server_id u32?, notes varchar(191)?, created_at timestamp?, updated_at timestamp? | (node_id,ip,port) | node_id→nodes cascade; server_id→servers set null
api_keys: id u32, user_id u32, key_type u8=0, identifier char(16)?, token text, allowed_ips text?, memo text?, last_used_at timestamp?, expires_at timestamp?, created_at timestamp?, updated_at timestamp?, r_servers u8=0, r_nodes u8=0, r_allocations u8=0, r_users u8=0, r_locations u8=0, r_nests u8=0, r_eggs u8=0, r_database_hosts u8=0, r_server_databases u8=0 | (identifier) | user_id→users cascade
backups: id u64, server_id u32, uuid char(36), upload_id text?, is_successful bool=0, is_locked u8=0, name varchar(191), ignored_files text, disk varchar(191), checksum varchar(191)?, bytes u64=0, completed_at timestamp?, created_at timestamp?, updated_at timestamp?, deleted_at timestamp? | (uuid) | server_id→servers cascade
database_hosts: id u32, name varchar(191), host varchar(191), port u32, username varchar(191), password text, max_databases u32?, node_id u32?, created_at timestamp?, updated_at timestamp? |  | node_id→nodes set null
databases: id u32, server_id u32, database_host_id u32, database varchar(191), username varchar(191), remote varchar(191)='%', password text, max_connections i32?=0, created_at timestamp?, updated_at timestamp? | (database_host_id,username) (database_host_id,server_id,database) | database_host_id→database_hosts; server_id→servers
egg_variables: id u32, egg_id u32, name varchar(191), description text, env_variable varchar(191), default_value text, user_viewable u8, user_editable u8, rules text?, created_at timestamp?, updated_at timestamp? |  | egg_id→eggs cascade
eggs: id u32, uuid char(36), nest_id u32, author varchar(191), name varchar(191), description text?, features json?, docker_images json?, file_denylist json?, update_url text?, config_files text?, config_startup text?, config_logs text?, config_stop varchar(191)?, config_from u32?, startup text?, script_container varchar(191)='alpine:3.4', copy_script_from u32?, script_entry varchar(191)='ash', script_is_privileged bool=1, script_install text?, created_at timestamp?, updated_at timestamp?, force_outgoing_ip bool=0 | (uuid) | config_from→eggs set null; copy_script_from→eggs set null; nest_id→nests cascade
failed_jobs: id u32, uuid varchar(191)?, connection text, queue text, payload longtext, failed_at timestamp, exception text | (uuid) | 
jobs: id u64, queue varchar(191), payload longtext, attempts u8, reserved_at u32?, available_at u32, created_at u32 |  | 
migrations: id u32, migration varchar(191), batch i32 |  | 
mounts: id u32, uuid char(36), name varchar(191), description text?, source varchar(191), target varchar(191), read_only u8, user_mountable u8 | (id) (uuid) (name) | 
nodes: id u32, uuid char(36), public u16, name varchar(191), description text?, location_id u32, fqdn varchar(191), scheme varchar(191)='https', behind_proxy bool=0, maintenance_mode bool=0, memory u32, memory_overallocate i32=0, disk u32, disk_overallocate i32=0, upload_size u32=100, daemon_token_id char(16), daemon_token text, daemonListen u16=8080, daemonSFTP u16=2022, daemonBase varchar(191)='/home/daemon-files', created_at timestamp?, updated_at timestamp? | (uuid) (daemon_token_id) | location_id→locations
notifications: id varchar(191), type varchar(191), notifiable_type varchar(191), notifiable_id u64, data text, read_at timestamp?, created_at timestamp?, updated_at timestamp? |  | 
password_resets: email varchar(191), token varchar(191), created_at timestamp |  | 
schedules: id u32, server_id u32, name varchar(191), cron_day_of_week varchar(191), cron_month varchar(191), cron_day_of_month varchar(191), cron_hour varchar(191), cron_minute varchar(191), is_active bool, is_processing bool, only_when_online u8=0, last_run_at timestamp?, next_run_at timestamp?, created_at timestamp?, updated_at timestamp? |  | server_id→servers cascade
server_transfers: id u32, server_id u32, successful bool?, old_node u32, new_node u32, old_allocation u32, new_allocation u32, old_additional_allocations longtext?, new_additional_allocations longtext?, archived bool=0, created_at timestamp?, updated_at timestamp? |  | server_id→servers cascade
servers: id u32, external_id varchar(191)?, uuid char(36), uuidShort char(8), node_id u32, name varchar(191), description text, status varchar(191)?, skip_scripts bool=0, owner_id u32, memory u32, swap i32, disk u32, io u32, cpu u32, threads varchar(191)?, oom_disabled u8=0, allocation_id u32, nest_id u32, egg_id u32, startup text, image varchar(191), allocation_limit u32?, database_limit u32?=0, backup_limit u32=0, created_at timestamp?, updated_at timestamp?, installed_at timestamp? | (uuid) (uuidShort) (allocation_id) (external_id) | allocation_id→allocations; egg_id→eggs; nest_id→nests; node_id→nodes; owner_id→users
sessions: id varchar(191), user_id i32?, ip_address varchar(45)?, user_agent text?, payload text, last_activity i32 | (id) | 
settings: id u32, key varchar(191), value text | (key) | 
tasks: id u32, schedule_id u32, sequence_id u32, action varchar(191), payload text, time_offset u32, is_queued bool, continue_on_failure u8=0, created_at timestamp?, updated_at timestamp? |  | schedule_id→schedules cascade
user_ssh_keys: id u32, user_id u32, name varchar(191), fingerprint varchar(191), public_key text, created_at timestamp?, updated_at timestamp?, deleted_at timestamp? |  | user_id→users cascade
users: id u32, external_id varchar(191)?, uuid char(36), username varchar(191), email varchar(191), name_first varchar(191)?, name_last varchar(191)?, password text, remember_token varchar(191)?, language char(5)='en', root_admin u8=0, use_totp u8, totp_secret text?, totp_authenticated_at timestamp?, gravatar bool=1, created_at timestamp?, updated_at timestamp? | (uuid) (email) (username) | 
audit_logs: id u64, uuid char(36), is_system bool=0, user_id u32?, server_id u32?, action varchar(191), subaction varchar(191)?, device json, metadata json, created_at timestamp |  | server_id→servers cascade; user_id→users set null
egg_mount: egg_id u32, mount_id u32 | (egg_id,mount_id) | egg_id→eggs cascade on; mount_id→mounts cascade on
locations: id u32, short varchar(191), long text?, created_at timestamp?, updated_at timestamp? | (short) | 
mount_node: node_id u32, mount_id u32 | (node_id,mount_id) | mount_id→mounts cascade on; node_id→nodes cascade on
mount_server: server_id u32, mount_id u32 | (server_id,mount_id) | mount_id→mounts cascade on; server_id→servers cascade on
nests: id u32, uuid char(36), author char(191), name varchar(191), description text?, created_at timestamp?, updated_at timestamp? | (uuid) | 
recovery_tokens: id u64, user_id u32, token varchar(191), created_at timestamp? |  | user_id→users cascade
`

/** The betas of Pelican of 2026. */
const pelican = `
activity_log_subjects: id u64, activity_log_id u64, subject_type varchar(255), subject_id u64 |  | activity_log_id→activity_logs cascade
activity_logs: id u64, event varchar(255), ip varchar(255), description text?, actor_type varchar(255)?, actor_id u64?, api_key_id u32?, properties json, timestamp timestamp |  | 
allocations: id u32, node_id u32, ip varchar(255), ip_alias text?, port u24, server_id u32?, notes varchar(255)?, created_at timestamp?, updated_at timestamp?, show_port bool=1, is_locked bool=0 | (node_id,ip,port) | node_id→nodes cascade; server_id→servers set null
api_keys: id u32, user_id u32, key_type u8=0, identifier char(16)?, token text, allowed_ips text, memo text?, last_used_at timestamp?, expires_at timestamp?, created_at timestamp?, updated_at timestamp?, permissions json? | (identifier) | user_id→users cascade
backup_host_node: node_id u32, backup_host_id u32, created_at timestamp?, updated_at timestamp? | (node_id) | backup_host_id→backup_hosts cascade; node_id→nodes cascade
backup_hosts: id u32, name varchar(255), schema varchar(255), configuration json?, created_at timestamp?, updated_at timestamp? |  | 
backups: id u64, server_id u32, uuid char(36), upload_id text?, is_successful bool=0, is_locked u8=0, name varchar(255), ignored_files text, checksum varchar(255)?, bytes u64=0, completed_at timestamp?, created_at timestamp?, updated_at timestamp?, is_scheduled bool=0, backup_host_id u32 | (uuid) | server_id→servers cascade
database_host_node: id u64, node_id u32, database_host_id u32, created_at timestamp?, updated_at timestamp? |  | database_host_id→database_hosts cascade; node_id→nodes cascade
database_hosts: id u32, name varchar(255), host varchar(255), port u32, username varchar(255), password text, max_databases u32?, created_at timestamp?, updated_at timestamp? |  | 
databases: id u32, server_id u32, database_host_id u32, database varchar(255), username varchar(255), remote varchar(255)='%', password text, max_connections i32?=0, created_at timestamp?, updated_at timestamp? | (database_host_id,username) (database_host_id,server_id,database) | database_host_id→database_hosts; server_id→servers
egg_variables: id u32, egg_id u32, name varchar(255), description text, env_variable varchar(255), default_value text, user_viewable u8, user_editable u8, rules json, created_at timestamp?, updated_at timestamp?, sort u8? | (egg_id,env_variable) (egg_id,name) | egg_id→eggs cascade
eggs: id u32, uuid char(36), author varchar(255), name varchar(255), description text?, features json?, docker_images json?, file_denylist json?, update_url text?, config_files text?, config_startup text?, config_logs text?, config_stop varchar(255)?, config_from u32?, script_container varchar(255)='alpine:3.4', copy_script_from u32?, script_entry varchar(255)='ash', script_is_privileged bool=1, script_install text?, created_at timestamp?, updated_at timestamp?, force_outgoing_ip bool=0, startup_commands json?, tags text? | (uuid) | config_from→eggs set null; copy_script_from→eggs set null
failed_jobs: id u32, uuid varchar(255)?, connection text, queue text, payload longtext, failed_at timestamp, exception text | (uuid) | 
jobs: id u64, queue varchar(255), payload longtext, attempts u8, reserved_at u32?, available_at u32, created_at u32 |  | 
migrations: id u32, migration varchar(255), batch i32 |  | 
model_has_permissions: permission_id u64, model_type varchar(255), model_id u64 |  | permission_id→permissions cascade
model_has_roles: role_id u64, model_type varchar(255), model_id u64 |  | role_id→roles cascade
mountables: mount_id u32, mountable_type varchar(255), mountable_id u64 |  | mount_id→mounts cascade
mounts: id u32, uuid char(36), name varchar(255), description text?, source varchar(255), target varchar(255), read_only u8, user_mountable u8 | (id) (uuid) (name) | 
node_role: node_id u32, role_id u64 | (node_id,role_id) | node_id→nodes cascade; role_id→roles cascade
nodes: id u32, uuid char(36), public u16, name varchar(255), description text?, fqdn varchar(255), scheme varchar(255)='https', behind_proxy bool=0, maintenance_mode bool=0, memory u32, memory_overallocate i32=0, disk u32, disk_overallocate i32=0, upload_size u32=100, daemon_token_id char(16), daemon_token text, created_at timestamp?, updated_at timestamp?, cpu u32=0, cpu_overallocate i32=0, daemon_listen u16=8080, daemon_sftp u16=2022, daemon_sftp_alias varchar(255)?, daemon_base varchar(255), tags text?, daemon_connect u16=8080 | (uuid) (daemon_token_id) | 
notifications: id varchar(255), type varchar(255), notifiable_type varchar(255), notifiable_id u64, data text, read_at timestamp?, created_at timestamp?, updated_at timestamp? |  | 
passkeys: id u64, user_id u32, name text, credential_id varchar(512), credential json, last_used_at timestamp?, created_at timestamp?, updated_at timestamp? | (credential_id) | user_id→users cascade
password_resets: email varchar(255), token varchar(255), created_at timestamp |  | 
permissions: id u64, name varchar(255), guard_name varchar(255), created_at timestamp?, updated_at timestamp? | (name,guard_name) | 
role_has_permissions: permission_id u64, role_id u64 |  | permission_id→permissions cascade; role_id→roles cascade
roles: id u64, name varchar(255), guard_name varchar(255), created_at timestamp?, updated_at timestamp? | (name,guard_name) | 
schedules: id u32, server_id u32, name varchar(255), cron_day_of_week varchar(255), cron_month varchar(255), cron_day_of_month varchar(255), cron_hour varchar(255), cron_minute varchar(255), is_active bool, is_processing bool, only_when_online u8=0, last_run_at timestamp?, next_run_at timestamp?, created_at timestamp?, updated_at timestamp? |  | server_id→servers cascade
server_transfers: id u32, server_id u32, successful bool?, old_node u32, new_node u32, old_allocation u32?, new_allocation u32?, old_additional_allocations longtext?, new_additional_allocations longtext?, archived bool=0, created_at timestamp?, updated_at timestamp? |  | server_id→servers cascade
server_user_settings: id u64, user_id u32, server_id u32, settings json?, created_at timestamp?, updated_at timestamp? | (user_id,server_id) | server_id→servers cascade; user_id→users cascade
servers: id u32, external_id varchar(255)?, uuid char(36), node_id u32, name varchar(255), description text, status varchar(255)?, skip_scripts bool=0, owner_id u32, memory u32, swap i32, disk u32, io u32, cpu u32, threads varchar(255)?, allocation_id u32?, egg_id u32, startup text, image varchar(255), allocation_limit u32?, database_limit u32?=0, backup_limit u32=0, created_at timestamp?, updated_at timestamp?, installed_at timestamp?, uuid_short char(8), oom_killer u8=0, docker_labels text? | (uuid) (uuid_short) (external_id) | allocation_id→allocations; egg_id→eggs; node_id→nodes; owner_id→users
sessions: id varchar(255), user_id i32?, ip_address varchar(45)?, user_agent text?, payload text, last_activity i32 | (id) | 
settings: id u32, key varchar(255), value text | (key) | 
tasks: id u32, schedule_id u32, sequence_id u32, action varchar(255), payload text, time_offset u32, is_queued bool, continue_on_failure u8=0, created_at timestamp?, updated_at timestamp? |  | schedule_id→schedules cascade
user_ssh_keys: id u32, user_id u32, name varchar(255), fingerprint varchar(255), public_key text, created_at timestamp?, updated_at timestamp?, deleted_at timestamp? |  | user_id→users cascade
users: id u32, external_id varchar(255)?, uuid char(36), username varchar(255), email varchar(255), password text, remember_token varchar(255)?, language char(5)='en', created_at timestamp?, updated_at timestamp?, is_managed_externally bool=0, timezone varchar(255)='UTC', oauth json?, customization json?, mfa_app_secret text?, mfa_app_recovery_codes text?, mfa_email_enabled bool=0 | (uuid) (email) (username) | 
webhook_configurations: id u64, scope varchar(255)='global', server_id u32?, type varchar(255)?, payload json?, headers json?, endpoint varchar(255), name varchar(255), description text?, events json, created_at timestamp?, updated_at timestamp?, deleted_at timestamp? |  | server_id→servers cascade
webhooks: id u64, webhook_configuration_id u64, event varchar(255), endpoint varchar(255), successful_at timestamp?, payload json, created_at timestamp?, updated_at timestamp? |  | webhook_configuration_id→webhook_configurations
`

/** What Pterodactyl 1.7 lacks: tables, and columns as `table.column`. */
const addedSince17 = [
  'activity_log_subjects',
  'activity_logs',
  'user_ssh_keys',
  'api_keys.expires_at',
  'eggs.force_outgoing_ip',
  'failed_jobs.uuid',
  'servers.installed_at',
]

/** A version of an old panel whose schema is described here. */
export type OldVersion = '1.7' | '1.11' | '1.12' | 'pelican'
type Column = { name: string; type: string; isNullable: boolean; preset: string | undefined }
type Table = { name: string; columns: Column[]; unique: string[]; references: string[] }

/** Returns the tables of a version. */
export function tablesOf(version: OldVersion): Table[] {
  const lines = `${common}${version === 'pelican' ? pelican : pterodactyl}`.split('\n').filter(Boolean)
  const isThere = (name: string) => version !== '1.7' || !addedSince17.includes(name)
  return lines.map(parseTable).flatMap(({ name, columns, unique, references }) => {
    const kept = columns.filter((column) => isThere(`${name}.${column.name}`))
    const keys = unique.filter((key) =>
      key.split(',').every((part) => kept.some((column) => column.name === part)),
    )
    return isThere(name) ? [{ name, columns: kept, unique: keys, references }] : []
  })
}

function parseTable(line: string): Table {
  const [, name = '', rest = ''] = /^(\w+): (.*)$/.exec(line) ?? []
  const [columns = '', unique = '', references = ''] = rest.split(' | ')
  return {
    name,
    columns: columns.split(/, (?![^(]*\))/).map(parseColumn),
    unique: [...unique.matchAll(/\(([^)]*)\)/g)].map(([, key = '']) => key),
    references: references.trim() === '' ? [] : references.split(';').map((text) => text.trim()),
  }
}

function parseColumn(text: string): Column {
  const [, name = '', type = '', mark, preset] = /^(\w+) (\w+(?:\([^)]*\))?)(\?)?(?:=(.*))?$/.exec(text) ?? []
  if (type === '') throw new Error(`A column that is not described: ${text}`)
  return { name, type, isNullable: mark !== undefined, preset }
}

const mariadbTypes: Record<string, string> = {
  u8: 'tinyint unsigned',
  u16: 'smallint unsigned',
  u24: 'mediumint unsigned',
  u32: 'int unsigned',
  u64: 'bigint unsigned',
  i32: 'int',
  bool: 'tinyint(1)',
}

/** Returns the statements that create the tables in MariaDB, without checks of references. */
export function mariadbSchema(version: OldVersion): string[] {
  return tablesOf(version).map(({ name, columns, unique, references }) => {
    const lines = columns.map((column) => mariadbColumn(column))
    const keys = unique.map(
      (key) =>
        `unique (${key
          .split(',')
          .map((part) => `\`${part}\``)
          .join(', ')})`,
    )
    const links = references.map((text) => {
      const [, column, table, action = ''] = /^(\w+)→(\w+)(?: (cascade|set null))?/.exec(text) ?? []
      return `foreign key (\`${column}\`) references \`${table}\` (id)${action && ` on delete ${action}`}`
    })
    return `create table \`${name}\` (${[...lines, ...keys, ...links].join(', ')}) engine=InnoDB`
  })
}

function mariadbColumn({ name, type, isNullable, preset }: Column): string {
  const key = name !== 'id' ? '' : type.startsWith('u') ? ' primary key auto_increment' : ' primary key'
  const end = preset === undefined ? '' : ` default ${preset}`
  return `\`${name}\` ${mariadbTypes[type] ?? type}${isNullable ? ' null' : ' not null'}${end}${key}`
}

/** Returns the statements that create the tables as Laravel does in PostgreSQL or SQLite. */
export function laravelSchema(version: OldVersion, to: 'postgres' | 'sqlite'): string[] {
  const types: [RegExp, string, string][] = [
    [/^u64$/, 'bigint', 'integer'],
    [/^(?:u\d+|i32)$/, 'integer', 'integer'],
    [/^bool$/, 'boolean', 'tinyint(1)'],
    [/^timestamp$/, 'timestamp(0) without time zone', 'datetime'],
    [/^longtext$/, 'text', 'text'],
    [/^json$/, 'json', 'text'],
  ]
  return tablesOf(version).map(({ name, columns }) => {
    const lines = columns.map((column) => {
      const type =
        types.find(([pattern]) => pattern.test(column.type))?.[to === 'postgres' ? 1 : 2] ?? column.type
      const preset =
        type === 'boolean' ? column.preset?.replace('0', 'false').replace('1', 'true') : column.preset
      const end = preset === undefined ? '' : ` default ${preset.replace('()', '')}`
      return `"${column.name}" ${type}${column.isNullable ? '' : ' not null'}${end}${column.name === 'id' ? ' primary key' : ''}`
    })
    return `create table "${name}" (${lines.join(', ')})`
  })
}
