import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { encrypt, importKeyRing } from '../../src/domain/secrets.ts'
import { openPostgres } from '../../src/platform/postgres.ts'
import { makeApplicationToken, makeClientToken, makeEgg, makeNode, makeUser } from '../support/factories.ts'
import type { World } from '../support/world.ts'

/** Credentials of a seeded database, and the rows that requests name. */
export type ScaleSeed = {
  servers: number
  /** Has one entry in a hundred of the log. */
  hotServer: string
  application: string
  /** Owner of 50 servers, subuser of 500. */
  client: string
  /** An administrator, whose lists hold every server. */
  administrator: string
  node: string
  /** Hash of the seed's own code: a kept database of another seed is made again. */
  version: string
}

/** The uuid of the first server, as SQL makes it. */
const hotServerUuid = `9e3779b1${createHash('md5').update('server1').digest('hex').slice(8)}`.replace(
  /^(.{8})(.{4})(.{4})(.{4})/,
  '$1-$2-$3-$4-',
)

/** Servers on a node, and allocations of a server. */
const serversPerNode = 200
const allocationsPerServer = 3

/** Tables that are filled by SQL, with the indexes that are built after them. */
const filledTables = ['users', 'servers', 'allocations', 'activity', 'jobs', 'schedule_runs', 'api_keys']

/** Fills a migrated, empty database: as many users as servers, and everything else in proportion. */
export async function seedScale(url: string, servers: number): Promise<ScaleSeed> {
  const credentials = await makeAccounts(url)
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    // Rows that belong to each other come from one formula: checking each reference would take most of the time.
    await client.query(`set session_replication_role = replica; set synchronous_commit = off;
      set maintenance_work_mem = '512MB'; set max_parallel_maintenance_workers = 0`)
    const indexes = await dropIndexes(client)
    for (const statement of statements(servers)) await client.query(statement)
    await encryptTokens(client)
    for (const index of indexes) await client.query(index)
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
  return { servers, hotServer: hotServerUuid, ...credentials, version: seedVersion() }
}

/** Gives each node a token of its own, since it is encrypted for the row. */
async function encryptTokens(client: Client): Promise<void> {
  const { rows } = await client.query<{ id: number; uuid: string }>('select id, uuid from nodes where id > 1')
  const keys = await benchKeys()
  const tokens = await Promise.all(
    rows.map(({ uuid }) =>
      encrypt({ keys }, `token of ${uuid}`, { table: 'nodes', column: 'daemon_token', row: uuid }),
    ),
  )
  await client.query(
    'update nodes set daemon_token = token from unnest($1::int[], $2::text[]) as made (id, token) where nodes.id = made.id',
    [rows.map(({ id }) => id), tokens],
  )
}

const benchKeys = () => importKeyRing(`bench:${Buffer.alloc(32, 7).toString('base64')}`)

/** Returns a hash of this file. */
export const seedVersion = (): string =>
  createHash('sha256')
    .update(readFileSync(new URL(import.meta.url)))
    .digest('hex')
    .slice(0, 12)

async function makeAccounts(url: string) {
  const database = openPostgres(url, 2)
  const keys = await benchKeys()
  const clock = { now: new Date() }
  const world = { database: { ...database, statements: [], url }, panel: { keys }, clock } as unknown as World
  const owner = await makeUser(world)
  const administrator = await makeUser(world, { rootAdmin: true })
  const node = await makeNode(world)
  for (let egg = 0; egg < 8; egg += 1) await makeEgg(world)
  const seeded = {
    client: await makeClientToken(world, owner),
    administrator: await makeClientToken(world, administrator),
    application: await makeApplicationToken(world),
    node: node.token,
  }
  await database.close()
  return seeded
}

/** Drops the indexes that no constraint needs, and returns the statements that build them. */
async function dropIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
    where schemaname = 'public' and tablename = any($1) and not exists (
      select 1 from pg_constraint where conindid = ('"' || indexname || '"')::regclass)`,
    [filledTables],
  )
  for (const { name } of rows) await client.query(`drop index "${name}"`)
  return rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '))
}

/** A uuid whose first eight digits are different for each number. */
const uuidOf = (n: string, salt: string) =>
  `(lpad(to_hex((${n}::bigint * 2654435761) % 4294967296), 8, '0') || substr(md5('${salt}' || ${n}), 9))::uuid`

const pick = (n: string, values: readonly string[]) =>
  `(array[${values.map((value) => `'${value}'`).join(',')}])[1 + ${n} % ${values.length}]`

const firstNames = ['anna', 'bela', 'chloe', 'dmitri', 'emeka', 'fatima', 'goran', 'hana']
/** One of eight servers has a `survival` in its name. */
const games = ['Survival', 'Creative', 'Skyblock', 'Hardcore', 'Lobby', 'Modded', 'Vanilla', 'Arena']
const images = ['java_8', 'java_11', 'java_17', 'java_21', 'wine']
const events = ['power.start', 'power.stop', 'console.command', 'file.write', 'sftp.write', 'backup.start']

function statements(servers: number): string[] {
  const nodes = Math.max(1, Math.ceil(servers / serversPerNode))
  return [
    ...infrastructure(nodes),
    ...accounts(servers),
    ...serverRows(servers, nodes),
    ...history(servers),
    'analyze',
  ]
}

function infrastructure(nodes: number): string[] {
  return [
    `insert into locations (short, long) select 'l' || n, 'Location ' || n from generate_series(2, 20) n`,
    `insert into nodes (name, location_id, fqdn, memory, disk, daemon_token_id, daemon_token, scheme, daemon_listen)
    select 'Node ' || n, 1 + n % 20, 'n' || n || '.example.test', 65536 + n, 1000000 + n,
      left(md5('token' || n), 16), daemon_token, 'http', 1
    from nodes cross join generate_series(2, ${nodes}) n`,
    `update nodes set used_memory = ${serversPerNode} * 100 + id % 7, used_disk = ${serversPerNode} * 1000`,
  ]
}

/** The first three accounts have the keys; the first one is named in the rows of servers. */
function accounts(users: number): string[] {
  return [
    `insert into users (uuid, external_id, username, email, email_verified_at, first_name, last_name)
    select ${uuidOf('n', 'user')}, 'customer-' || n, ${pick('n', firstNames)} || n,
      ${pick('n', firstNames)} || '.' || n || case when n % 8 = 0 then '@mail.test' else '@d' || n % 5000 || '.test' end,
      now(), ${pick('n', firstNames)}, 'No. ' || n
    from generate_series(4, ${users}) n`,
    `insert into api_keys (user_id, type, identifier, secret_hash)
    select n, 'account', 'ptlc_' || lpad(to_hex(n), 11, '0'), md5(n::text) from generate_series(4, ${users}, 4) n`,
    `insert into ssh_keys (user_id, name, public_key, fingerprint)
    select n, 'laptop', 'ssh-ed25519 ' || md5(n::text), md5('f' || n) from generate_series(4, ${users}, 10) n`,
  ]
}

function serverRows(servers: number, nodes: number): string[] {
  const per = allocationsPerServer
  return [
    `insert into servers (uuid, uuid_short, external_id, node_id, owner_id, egg_id, allocation_id, name, description,
      status, memory, swap, disk, io, cpu, startup, image, allocation_limit, variables)
    select uuid, left(uuid::text, 8), 'order-' || n, 1 + n % ${nodes}, case when n <= 50 then 1 else n end, 1 + n % 8,
      (n - 1) * ${per} + 1, ${pick('n', games)} || ' server ' || n,
      case when n % 4 = 0 then 'Run by ' || ${pick('n', firstNames)} || ', season ' || n % 97 else '' end,
      case when n % 50 = 0 then 'suspended' end, 100, 0, 1000, 500, 100, 'java -jar server.jar',
      'ghcr.io/games/' || case when n % 50000 = 7 then 'nightly' else ${pick('n', images)} end, 3,
      jsonb_build_object('MOTD', 'Welcome to ' || n, 'SERVER_JARFILE', 'server.jar')
    from (select n, ${uuidOf('n', 'server')} as uuid from generate_series(1, ${servers}) n) numbered`,
    `insert into server_states (server_id, state, since)
    select id, case when id % 10 < 8 then 'running' when id % 100 = 8 then 'starting' else 'offline' end, now()
    from servers where id % 20 <> 0`,
    // Every tenth node shares an address with the others behind the same gateway. Allocations are made node by node.
    `insert into allocations (id, node_id, ip, port, server_id) overriding system value
    select (n - 1) * ${per} + a + 1, 1 + n % ${nodes}, case when n % ${nodes} % 10 = 0 then '203.0.113.' || n % ${nodes} / 10 % 4
        else '10.' || n % ${nodes} / 250 || '.' || n % ${nodes} % 250 || '.1' end,
      20000 + (n % ${nodes} / 40 + n / ${nodes} * ${per} + a) % 40000, case when a < 2 then n end
    from generate_series(1, ${servers}) n cross join generate_series(0, ${per - 1}) a order by n % ${nodes}, n, a`,
    `insert into subusers (user_id, server_id, permissions)
    select case when n <= 550 then 1 else 4 + n * 7 % ${servers} end, n, '{control.console,file.read}'
    from generate_series(51, ${servers}) n where n <= 550 or n % 2 = 0
    on conflict do nothing`,
    `insert into backups (server_id, name, disk, is_successful, bytes, completed_at)
    select 1 + n % ${servers}, 'Nightly ' || n, 'wings', true, n, now() from generate_series(1, ${servers / 5}) n`,
  ]
}

/** Partitions as the panel makes them, for months that have passed. */
function createPartition(monthsAgo: number): string {
  const now = new Date()
  const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1))
  const end = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo + 1, 1))
  const name = `activity_${start.toISOString().slice(0, 7).replace('-', '_')}`
  return `create table ${name} partition of activity for values from ('${start.toISOString()}') to ('${end.toISOString()}')`
}

/** Activity, of which the first server has one entry in a hundred; idle schedules with their runs; finished jobs. */
function history(servers: number): string[] {
  return [
    ...[0, 1, 2, 3].map(createPartition),
    `insert into activity (timestamp, event, ip, source, actor_id, server_id, user_id, node_id, properties, digest)
    select now() - n * interval '90 days' / ${servers * 10},
      case when n % 10 < 2 then 'auth:' || ${pick('n', ['success', 'fail', 'key.create'])} else 'server:' || ${pick('n', events)} end,
      '10.' || n % 251 || '.' || n % 13 || '.9', ${pick('n', ['web', 'api', 'sftp', 'system'])}, 1 + n % ${servers},
      case when n % 100 = 2 then 1 when n % 10 >= 2 then 1 + n % ${servers} end,
      case when n % 10 < 2 then 1 + n % ${servers} end, case when n % 10 > 5 then 1 end,
      '{"command": "say hello"}', case when n % 10 > 5 then md5(n::text) end
    from generate_series(1, ${servers * 10}) n`,
    `insert into schedules (server_id, name, cron_minute, cron_hour, cron_day_of_month, cron_day_of_week, is_active, next_run_at)
    select 1 + n * 10 % ${servers}, 'Idle ' || n, '0', '4', '*', '*', true, now() + interval '1 day'
    from generate_series(1, ${servers / 10}) n`,
    `insert into tasks (schedule_id, sequence_id, action, payload, time_offset) select id, 1, 'command', 'say hi', 0 from schedules`,
    `insert into schedule_runs (schedule_id, trigger, due_at, state, started_at, finished_at)
    select 1 + n % ${servers / 10}, 'cron', at, 'succeeded', at, at
    from generate_series(1, ${servers}) n cross join lateral (select now() - n * interval '29 days' / ${servers} as at) times`,
    `insert into jobs (name, payload, state, run_at, deadline_at, attempts, finished_at)
    select case when n % 1000 = 0 then 'send-mail' else 'run-schedule' end, '{}', case when n % 5000 = 1 then 'dead' else 'done' end,
      at, at, 1, at
    from generate_series(1, ${servers}) n cross join lateral (select now() - n * interval '6 days' / ${servers} as at) times`,
  ]
}
