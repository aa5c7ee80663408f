import { createCipheriv, createHmac, randomBytes } from 'node:crypto'
import mysql from 'mysql2/promise'
import bcrypt from 'bcryptjs'
import { mysqlAdmin } from '../support/mysql.ts'
import { activityRows } from './old-activity.ts'

export type OldKind = 'pterodactyl' | 'pelican'
export const appKey = randomBytes(32)
export const appKeyText = `base64:${appKey.toString('base64')}`

/** Encrypts as the old panel does: serialised by PHP in Pterodactyl, plain in Pelican. */
export function encryptAsOldPanel(kind: OldKind, plain: string, key = appKey): string {
  const text = kind === 'pterodactyl' ? `s:${Buffer.byteLength(plain)}:"${plain}";` : plain
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const value = Buffer.concat([cipher.update(text), cipher.final()]).toString('base64')
  const sealed = iv.toString('base64')
  const mac = createHmac('sha256', key)
    .update(sealed + value)
    .digest('hex')
  return Buffer.from(JSON.stringify({ iv: sealed, value, mac, tag: '' })).toString('base64')
}

const times = 'created_at timestamp null, updated_at timestamp null'
const id = 'id int unsigned primary key auto_increment'

/** Tables that both have alike, as columns of MariaDB. */
const commonTables: Record<string, string> = {
  user_ssh_keys: `${id}, user_id int unsigned, name varchar(191), fingerprint varchar(191), public_key text, ${times}, deleted_at timestamp null`,
  allocations: `${id}, node_id int unsigned, ip varchar(191), ip_alias text, port mediumint unsigned, server_id int unsigned, notes varchar(191), ${times}`,
  mounts: `${id}, uuid char(36), name varchar(191), description text, source varchar(191), target varchar(191), read_only tinyint, user_mountable tinyint`,
  server_variables: `${id}, server_id int unsigned, variable_id int unsigned, variable_value text, ${times}`,
  subusers: `${id}, user_id int unsigned, server_id int unsigned, permissions json, ${times}`,
  schedules: `${id}, server_id int unsigned, name varchar(191), cron_day_of_week varchar(191), cron_month varchar(191), cron_day_of_month varchar(191), cron_hour varchar(191), cron_minute varchar(191), is_active bool, is_processing bool, only_when_online tinyint default 0, last_run_at timestamp null, next_run_at timestamp null, ${times}`,
  tasks: `${id}, schedule_id int unsigned, sequence_id int unsigned, action varchar(191), payload text, time_offset int unsigned, is_queued bool, continue_on_failure tinyint default 0, ${times}`,
  databases: `${id}, server_id int unsigned, database_host_id int unsigned, \`database\` varchar(191), username varchar(191), remote varchar(191) default '%', password text, max_connections int default 0, ${times}`,
  activity_logs:
    'id bigint unsigned primary key auto_increment, event varchar(191), ip varchar(191), description text, actor_type varchar(191), actor_id bigint unsigned, api_key_id int unsigned, properties json, timestamp timestamp not null',
  activity_log_subjects:
    'id bigint unsigned primary key auto_increment, activity_log_id bigint unsigned, subject_type varchar(191), subject_id bigint unsigned',
  sessions: 'id varchar(191), payload text, last_activity int',
  store_plugin: 'id int',
}

const pterodactylTables: Record<string, string> = {
  users: `${id}, external_id varchar(191), uuid char(36), username varchar(191), email varchar(191), name_first varchar(191), name_last varchar(191), password text, language char(5) default 'en', root_admin tinyint default 0, use_totp tinyint, totp_secret text, totp_authenticated_at timestamp null, gravatar bool default 1, ${times}`,
  api_keys: `${id}, user_id int unsigned, key_type tinyint, identifier char(16), token text, allowed_ips text, memo text, last_used_at timestamp null, expires_at timestamp null, r_servers tinyint default 0, r_nodes tinyint default 0, r_allocations tinyint default 0, r_users tinyint default 0, r_locations tinyint default 0, r_nests tinyint default 0, r_eggs tinyint default 0, r_database_hosts tinyint default 0, r_server_databases tinyint default 0, ${times}`,
  locations: `${id}, short varchar(191), \`long\` text, ${times}`,
  nodes: `${id}, uuid char(36), public smallint unsigned, name varchar(191), description text, location_id int unsigned, fqdn varchar(191), scheme varchar(191) default 'https', behind_proxy bool default 0, maintenance_mode bool default 0, memory int unsigned, memory_overallocate int default 0, disk int unsigned, disk_overallocate int default 0, upload_size int unsigned default 100, daemon_token_id char(16), daemon_token text, daemonListen smallint unsigned default 8080, daemonSFTP smallint unsigned default 2022, daemonBase varchar(191) default '/var/lib/pterodactyl/volumes', ${times}`,
  nests: `${id}, uuid char(36), author char(191), name varchar(191), description text, ${times}`,
  eggs: `${id}, uuid char(36), nest_id int unsigned, author varchar(191), name varchar(191), description text, features json, docker_images json, file_denylist json, update_url text, config_files text, config_startup text, config_logs text, config_stop varchar(191), config_from int unsigned, startup text, script_container varchar(191) default 'alpine:3.4', copy_script_from int unsigned, script_entry varchar(191) default 'ash', script_is_privileged bool default 1, script_install text, ${times}`,
  egg_variables: `${id}, egg_id int unsigned, name varchar(191), description text, env_variable varchar(191), default_value text, user_viewable tinyint, user_editable tinyint, rules text, ${times}`,
  egg_mount: 'egg_id int unsigned, mount_id int unsigned',
  mount_node: 'node_id int unsigned, mount_id int unsigned',
  mount_server: 'server_id int unsigned, mount_id int unsigned',
  servers: `${id}, external_id varchar(191), uuid char(36), uuidShort char(8), node_id int unsigned, name varchar(191), description text, status varchar(191), skip_scripts bool default 0, owner_id int unsigned, memory int unsigned, swap int, disk int unsigned, io int unsigned, cpu int unsigned, threads varchar(191), oom_disabled tinyint default 0, allocation_id int unsigned, nest_id int unsigned, egg_id int unsigned, startup text, image varchar(191), allocation_limit int unsigned, database_limit int unsigned default 0, backup_limit int unsigned default 0, ${times}, installed_at timestamp null`,
  database_hosts: `${id}, name varchar(191), host varchar(191), port int unsigned, username varchar(191), password text, max_databases int unsigned, node_id int unsigned, ${times}`,
  backups: `id bigint unsigned primary key auto_increment, server_id int unsigned, uuid char(36), upload_id text, is_successful bool, is_locked tinyint default 0, name varchar(191), ignored_files text, disk varchar(191), checksum varchar(191), bytes bigint unsigned default 0, completed_at timestamp null, ${times}, deleted_at timestamp null`,
}

const pelicanTables: Record<string, string> = {
  users: `${id}, external_id varchar(255), uuid char(36), username varchar(255), email varchar(255), password text, language char(5) default 'en', timezone varchar(255) default 'UTC', mfa_app_secret text, mfa_app_recovery_codes text, ${times}`,
  api_keys: `${id}, user_id int unsigned, key_type tinyint, identifier char(16), token text, permissions json, allowed_ips text, memo text, last_used_at timestamp null, expires_at timestamp null, ${times}`,
  roles: `id bigint unsigned primary key auto_increment, name varchar(255), guard_name varchar(255), ${times}`,
  permissions: `id bigint unsigned primary key auto_increment, name varchar(255), guard_name varchar(255), ${times}`,
  role_has_permissions: 'permission_id bigint unsigned, role_id bigint unsigned',
  model_has_roles: 'role_id bigint unsigned, model_type varchar(255), model_id bigint unsigned',
  nodes: `${id}, uuid char(36), public smallint unsigned, name varchar(255), description text, fqdn varchar(255), scheme varchar(255) default 'https', behind_proxy bool default 0, maintenance_mode bool default 0, memory int unsigned, memory_overallocate int default 0, disk int unsigned, disk_overallocate int default 0, cpu int unsigned default 0, cpu_overallocate int default 0, upload_size int unsigned default 100, daemon_token_id char(16), daemon_token text, daemon_listen smallint unsigned default 8080, daemon_connect smallint unsigned default 8080, daemon_sftp smallint unsigned default 2022, daemon_sftp_alias varchar(255), daemon_base varchar(255) default '/var/lib/pelican/volumes', tags text, ${times}`,
  eggs: pterodactylTables
    .eggs!.replace('nest_id int unsigned, ', '')
    .replace(' startup text,', ' startup_commands json,'),
  egg_variables: pterodactylTables.egg_variables!.replace('rules text', 'rules json, sort tinyint'),
  mountables: 'mount_id int unsigned, mountable_type varchar(255), mountable_id bigint unsigned',
  servers: pterodactylTables
    .servers!.replace('uuidShort', 'uuid_short')
    .replace('oom_disabled', 'oom_killer')
    .replace('nest_id int unsigned, ', ''),
  database_hosts: pterodactylTables.database_hosts!.replace(', node_id int unsigned', ''),
  database_host_node: `${id}, node_id int unsigned, database_host_id int unsigned`,
  backup_hosts: `${id}, name varchar(255), \`schema\` varchar(255), configuration json`,
  backups: pterodactylTables
    .backups!.replace('disk varchar(191)', 'backup_host_id int unsigned, is_scheduled bool default 0')
    .replace(', deleted_at timestamp null', ''),
}

const uuidOf = (last: number) => `a${String(last).padStart(7, '0')}-0000-4000-8000-000000000000`
const at = '2024-03-01 10:00:00'

/** What a person or a program of the old panel knows. */
export const known = {
  password: 'correct horse battery',
  totpSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  clientKey: `ptlc_identifier${'k'.repeat(33)}`,
  applicationKey: `ptla_identifier${'a'.repeat(33)}`,
  node: { id: 'token-id-of-node', secret: 's'.repeat(64) },
  serverUuid: uuidOf(30),
}

/** A row by the columns of the old panel. */
export type Row = Record<string, string | number | null>

/** Rows of every table, as columns of MariaDB. */
export function rowsOf(kind: OldKind): [string, Row[]][] {
  const isPelican = kind === 'pelican'
  const lock = (text: string) => encryptAsOldPanel(kind, text)
  const key = (id: number, type: number, token: string): Row => ({
    id,
    user_id: 5,
    key_type: type,
    identifier: token.slice(0, 16),
    token: lock(token.slice(16)),
    memo: 'bot',
    allowed_ips: null,
    created_at: at,
    ...(isPelican ? { permissions: '{"server":3,"user":1}' } : { r_servers: 3, r_users: 1 }),
  })
  const user = (id: number, username: string, isAdmin: boolean): Row => ({
    id,
    uuid: uuidOf(id),
    username,
    email: `${username.toLowerCase()}@old.example`,
    created_at: at,
    language: 'de',
    password: bcrypt.hashSync(known.password, 4).replace('$2b$', '$2y$'),
    ...(isPelican
      ? { mfa_app_secret: isAdmin ? lock(known.totpSecret) : null }
      : {
          root_admin: Number(isAdmin),
          use_totp: Number(isAdmin),
          totp_secret: isAdmin ? lock(known.totpSecret) : null,
        }),
  })
  const server = (id: number, allocation: number | null, owner: number): Row => ({
    id,
    uuid: uuidOf(id),
    node_id: 7,
    name: `Server ${id}`,
    description: '',
    owner_id: owner,
    memory: 1024,
    swap: 0,
    disk: 2048,
    io: 500,
    cpu: 100,
    egg_id: 21,
    startup: 'run',
    image: 'image:1',
    allocation_id: allocation,
    created_at: at,
    [isPelican ? 'uuid_short' : 'uuidShort']: id === 31 ? 'deadbeef' : uuidOf(id).slice(0, 8),
    ...(isPelican ? {} : { nest_id: 11 }),
  })
  const pairs: [string, Row[]][] = isPelican
    ? [
        [
          'mountables',
          [
            ['Egg', 21],
            ['Node', 7],
            ['Server', 30],
          ].map(([type, to]) => ({
            mount_id: 2,
            mountable_type: `App\\Models\\${type}`,
            mountable_id: to as number,
          })),
        ],
        [
          'roles',
          [
            { id: 1, name: 'Root Admin', guard_name: 'web' },
            { id: 2, name: 'Support', guard_name: 'web' },
          ],
        ],
        [
          'permissions',
          [
            { id: 1, name: 'view server', guard_name: 'web' },
            { id: 2, name: 'update user', guard_name: 'web' },
          ],
        ],
        [
          'role_has_permissions',
          [
            { permission_id: 1, role_id: 2 },
            { permission_id: 2, role_id: 2 },
          ],
        ],
        [
          'model_has_roles',
          [
            { role_id: 1, model_type: 'user', model_id: 5 },
            { role_id: 2, model_type: 'user', model_id: 6 },
          ],
        ],
        ['backup_hosts', [{ id: 1, name: 'Bucket', schema: 's3' }]],
      ]
    : [
        ['locations', [{ id: 3, short: 'fra', long: 'Frankfurt' }]],
        ['nests', [{ id: 11, uuid: uuidOf(11), author: 'a@old.example', name: 'Games' }]],
        ['egg_mount', [{ egg_id: 21, mount_id: 2 }]],
        ['mount_node', [{ node_id: 7, mount_id: 2 }]],
        ['mount_server', [{ server_id: 30, mount_id: 2 }]],
      ]
  return [
    ['users', [user(5, 'Ada', true), user(6, 'bob', false)]],
    [
      'api_keys',
      [
        key(1, 1, known.clientKey),
        key(2, 2, known.applicationKey),
        { ...key(3, 1, 'x'.repeat(48)), identifier: null },
      ],
    ],
    [
      'user_ssh_keys',
      [
        {
          id: 1,
          user_id: 5,
          name: 'Laptop',
          fingerprint: 'f'.repeat(43),
          public_key: 'a\r\nb',
          created_at: at,
        },
      ],
    ],
    [
      'nodes',
      [
        {
          id: 7,
          uuid: uuidOf(7),
          public: 1,
          name: 'Node',
          fqdn: 'node.old.example',
          memory: 8192,
          disk: 90_000,
          daemon_token_id: known.node.id,
          daemon_token: lock(known.node.secret),
          created_at: at,
          ...(isPelican ? {} : { location_id: 3 }),
        },
      ],
    ],
    [
      'allocations',
      [
        { id: 40, node_id: 7, ip: '10.0.0.1', port: 25565, server_id: 30 },
        { id: 41, node_id: 7, ip: '10.0.0.1', port: 25566, server_id: 31 },
        { id: 42, node_id: 7, ip: '10.0.0.1', port: 25567, server_id: null },
        { id: 43, node_id: 99, ip: '10.0.0.9', port: 1, server_id: null },
      ],
    ],
    [
      'eggs',
      [
        {
          id: 21,
          uuid: uuidOf(21),
          author: 'a@old.example',
          name: 'Paper',
          docker_images: '{"Java":"image:1"}',
          features: '["eula"]',
          config_files: '[]',
          ...(isPelican ? { startup_commands: '{"Default":"run"}' } : { startup: 'run', nest_id: 11 }),
        },
        {
          id: 22,
          uuid: uuidOf(22),
          author: 'a@old.example',
          name: 'Fork',
          docker_images: '{"Java":"image:1"}',
          config_from: 21,
          ...(isPelican ? { startup_commands: '{"Default":"run"}' } : { startup: 'run', nest_id: 11 }),
        },
      ],
    ],
    [
      'egg_variables',
      [
        {
          id: 1,
          egg_id: 21,
          name: 'Jar',
          description: '',
          env_variable: 'JAR',
          default_value: 'a.jar',
          user_viewable: 1,
          user_editable: 1,
          rules: isPelican ? '["required","string"]' : 'required|string',
        },
      ],
    ],
    [
      'mounts',
      [
        {
          id: 2,
          uuid: uuidOf(2),
          name: 'Maps',
          source: '/maps',
          target: '/maps',
          read_only: 1,
          user_mountable: 0,
        },
      ],
    ],
    ['servers', [server(30, 40, 5), server(31, 41, 6), server(32, null, 5), server(33, 42, 99)]],
    ['server_variables', [{ id: 1, server_id: 30, variable_id: 1, variable_value: 'grün 🎲.jar' }]],
    [
      'subusers',
      [
        {
          id: 1,
          user_id: 6,
          server_id: 30,
          permissions: '["websocket.connect","control.start","plugin.special"]',
        },
      ],
    ],
    [
      'schedules',
      [
        {
          id: 1,
          server_id: 30,
          name: 'Nightly',
          cron_day_of_week: '*',
          cron_month: '*',
          cron_day_of_month: '*',
          cron_hour: '4',
          cron_minute: '0',
          is_active: 1,
          is_processing: 0,
        },
      ],
    ],
    [
      'tasks',
      [
        {
          id: 1,
          schedule_id: 1,
          sequence_id: 1,
          action: 'power',
          payload: 'restart',
          time_offset: 1200,
          is_queued: 0,
        },
      ],
    ],
    [
      'database_hosts',
      [
        {
          id: 1,
          name: 'Host',
          host: '127.0.0.1',
          port: 3306,
          username: 'root',
          password: lock('host secret'),
        },
      ],
    ],
    [
      'databases',
      [
        {
          id: 1,
          server_id: 30,
          database_host_id: 1,
          database: 's30_world',
          username: 'u30_abc',
          password: lock('database secret'),
        },
      ],
    ],
    [
      'backups',
      [
        {
          id: 1,
          server_id: 30,
          uuid: uuidOf(50),
          is_successful: 1,
          name: 'Before',
          ignored_files: '["logs"]',
          bytes: 5_000_000_000,
          completed_at: at,
          ...(isPelican ? { backup_host_id: 1 } : { disk: 's3' }),
        },
        {
          id: 2,
          server_id: 30,
          uuid: uuidOf(51),
          is_successful: 0,
          name: 'Running',
          ignored_files: '[]',
          completed_at: null,
          ...(isPelican ? { backup_host_id: 1 } : { disk: 's3' }),
        },
      ],
    ],
    ...pairs,
    ...activityRows,
  ]
}

export type OldPanel = {
  url: string
  query: (statement: string) => Promise<unknown>
  drop: () => Promise<void>
}

/** Creates the database of an old panel with a few rows of every table. */
export async function createOldPanel(kind: OldKind): Promise<OldPanel> {
  const name = `roost_test_old_${randomBytes(6).toString('hex')}`
  const { host, port, username, password } = mysqlAdmin
  const connection = await mysql.createConnection({ host, port, user: username, password })
  await connection.query(`create database ${name} character set utf8mb4`)
  await connection.query(`use ${name}`)
  await connection.query("set time_zone = '+00:00'")
  const tables = { ...commonTables, ...(kind === 'pelican' ? pelicanTables : pterodactylTables) }
  for (const [table, columns] of Object.entries(tables))
    await connection.query(`create table \`${table}\` (${columns})`)
  for (const [table, rows] of rowsOf(kind))
    for (const row of rows) await connection.query(`insert into \`${table}\` set ?`, [row])
  const login = [username, password].map(encodeURIComponent).filter(Boolean).join(':')
  return {
    url: `mysql://${login}@${host}:${port}/${name}`,
    query: (statement) => connection.query(statement),
    drop: async () => {
      await connection.query(`drop database ${name}`)
      await connection.end()
    },
  }
}
