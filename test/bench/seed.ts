import { Client } from 'pg'
import { hashPassword } from '../../src/domain/auth/password-hash.ts'
import { digest, encrypt, importKeyRing } from '../../src/domain/secrets.ts'
import { continueIds, withGivenIds } from './answers-world.ts'

/** How much a benchmark has of everything. */
export type Size = { users: number; keysPerUser: number; serversPerUser: number; nodes: number; free: number }

/** As a hosting company has it: 1,000 keys, 10,000 servers. */
export const benchSize: Size = { users: 200, keysPerUser: 5, serversPerUser: 50, nodes: 20, free: 20_000 }

export const benchPassword = 'correct horse battery'
export const benchKeys = `bench:${Buffer.alloc(32, 7).toString('base64')}`

const secret = 'S'.repeat(32)
const nodeSecret = 'N'.repeat(64)
const padded = (n: number, length: number) => String(n).padStart(length, '0')

export const serverUuid = (n: number) => `${padded(n, 8)}-5e47-4000-8000-${padded(n, 12)}`
export const userUuid = (n: number) => `${padded(n, 8)}-05e4-4000-8000-${padded(n, 12)}`
export const clientToken = (n: number) => `ptlc_${padded(n, 11)}${secret}`
export const applicationToken = (n: number) => `ptla_${padded(n, 11)}${secret}`
export const nodeToken = (n: number) => `tokenid${padded(n, 9)}.${nodeSecret}`
/** Number of application keys. */
export const applicationKeys = 25

/** Fills an empty database with SQL: the same rows each time, but for times and the ciphertexts of nodes. */
export async function seedBench(url: string, size: Size, daemonPort: number): Promise<void> {
  const keys = await importKeyRing(benchKeys)
  const client = new Client(url)
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    const hash = await hashPassword(benchPassword)
    const parts = [
      people(size, hash),
      eggs,
      places(size, daemonPort),
      servers(size),
      activity(size),
      continueIds,
    ]
    for (const part of parts) await client.query(withGivenIds(part))
    for (let n = 1; n <= size.nodes; n += 1) {
      const row = `${padded(n, 8)}-40de-4000-8000-${padded(n, 12)}`
      const token = await encrypt({ keys }, nodeSecret, { table: 'nodes', column: 'daemon_token', row })
      await client.query('update nodes set daemon_token = $1 where id = $2', [token, n])
    }
    // Pages that vacuum marks as visible are not visited again, and plans are chosen by statistics.
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

const uuid = (kind: string) =>
  `(lpad(n::text, 8, '0') || '-${kind}-4000-8000-' || lpad(n::text, 12, '0'))::uuid`

const fullAcl =
  '{"servers":3,"nodes":3,"allocations":3,"users":3,"locations":3,"nests":3,"eggs":3,"database_hosts":3,"server_databases":3}'

const people = ({ users, keysPerUser }: Size, hash: string) => `
insert into users (id, uuid, username, email, first_name, last_name, password_hash, root_admin, email_verified_at, api_key_count)
select n, ${uuid('05e4')}, 'user' || n, 'user' || n || '@example.test', 'Uma', 'No. ' || n, '${hash}', n = ${users + 1}, now(), case when n <= ${users} then ${keysPerUser} else 0 end
from generate_series(1, ${users + 1}) n;
insert into api_keys (id, user_id, type, identifier, secret_hash, last_used_at)
select n, 1 + (n - 1) % ${users}, 'account', 'ptlc_' || lpad(n::text, 11, '0'), '${digest(secret)}', now() from generate_series(1, ${users * keysPerUser}) n;
insert into api_keys (id, user_id, type, identifier, secret_hash, acl, last_used_at)
select 1000000 + n, ${users + 1}, 'application', 'ptla_' || lpad(n::text, 11, '0'), '${digest(secret)}', '${fullAcl}', now() from generate_series(1, ${applicationKeys}) n;`

/** Four eggs with twenty variables each, of which a server sets four. */
const eggs = `
insert into nests (id, uuid, author, name) select n, ${uuid('4e57')}, 'eggs@example.test', 'Nest ' || n from generate_series(1, 2) n;
insert into eggs (id, uuid, nest_id, author, name, description, features, docker_images, file_denylist, config_files, config_startup, config_logs, config_stop, startup, script_install)
select n, ${uuid('0e99')}, 1 + n % 2, 'eggs@example.test', 'Egg ' || n, 'A game with everything that its players may want.', '["eula","java_version","pid_limit"]',
  '{"Java 21":"ghcr.io/games/java:21","Java 17":"ghcr.io/games/java:17","Java 11":"ghcr.io/games/java:11"}', '{}',
  '{"server.properties":{"parser":"properties","find":{"server-ip":"0.0.0.0","server-port":"{{server.build.default.port}}","query.port":"{{server.build.default.port}}","motd":"{{env.VARIABLE_1}}"}}}',
  '{"done":")! For help, type "}', '{}', 'stop', 'java -Xms128M -Xmx{{SERVER_MEMORY}}M -jar {{VARIABLE_1}} {{VARIABLE_2}}', 'echo installed' from generate_series(1, 4) n;
insert into egg_variables (id, egg_id, name, description, env_variable, default_value, user_viewable, user_editable, rules)
select e * 100 + v, e, 'Variable ' || v, 'What the variable no. ' || v || ' of the egg is for.', 'VARIABLE_' || v, 'default ' || v, v <= 16, v <= 12, case when v % 2 = 0 then 'nullable|string|max:64' else 'required|string|max:64' end
from generate_series(1, 4) e, generate_series(1, 20) v;`

/** The last node, alone in the last location, has no servers and all free allocations. */
const places = ({ nodes, users, serversPerUser, free }: Size, daemonPort: number) => `
insert into locations (id, short, long) select n, 'loc' || n, 'Place no. ' || n from generate_series(1, 6) n;
insert into nodes (id, uuid, name, location_id, fqdn, scheme, memory, memory_overallocate, disk, disk_overallocate, daemon_listen, daemon_token_id, daemon_token)
select n, ${uuid('40de')}, 'node-' || n, case when n = ${nodes} then 6 else 1 + n % 5 end, '127.0.0.1', 'http', 100000000, -1, 1000000000, -1, ${daemonPort}, 'tokenid' || lpad(n::text, 9, '0'), 'x'
from generate_series(1, ${nodes}) n;
insert into allocations (id, node_id, ip, ip_alias, port)
select n, 1 + ((n - 1) % ${users * serversPerUser}) % ${nodes - 1}, '198.51.100.' || n % 250, case when n % 4 = 0 then 'play.example.test' end, 1024 + n / 250
from generate_series(1, ${2 * users * serversPerUser}) n;
insert into allocations (id, node_id, ip, port) select 5000000 + n, ${nodes}, '203.0.113.' || n % 250, 1024 + n / 250 from generate_series(1, ${free}) n;`

/** A server has two allocations, and its neighbour's owner as a subuser where its number is a multiple of ten. */
const servers = ({ users, serversPerUser, nodes }: Size) => `
begin;
insert into servers (id, uuid, uuid_short, node_id, owner_id, egg_id, allocation_id, name, description, memory, swap, disk, io, cpu, startup, image, variables, database_limit, allocation_limit, backup_limit, installed_at)
select n, ${uuid('5e47')}, lpad(n::text, 8, '0'), 1 + (n - 1) % ${nodes - 1}, 1 + (n - 1) % ${users}, 1 + n % 4, n, 'Server ' || n, 'A place to play, no. ' || n, 2048, 0, 10240, 500, 200,
  'java -Xms128M -Xmx{{SERVER_MEMORY}}M -jar {{VARIABLE_1}} {{VARIABLE_2}}', 'ghcr.io/games/java:21',
  jsonb_build_object('VARIABLE_1', 'server.jar', 'VARIABLE_2', 'nogui', 'VARIABLE_3', 'value ' || n, 'VARIABLE_5', 'latest'), 2, 5, 3, now()
from generate_series(1, ${users * serversPerUser}) n;
update allocations set server_id = 1 + (id - 1) % ${users * serversPerUser} where id <= ${2 * users * serversPerUser};
update nodes n set used_memory = s.memory, used_disk = s.disk from (select node_id, sum(memory) memory, sum(disk) disk from servers group by 1) s where s.node_id = n.id;
commit;
insert into subusers (id, user_id, server_id, permissions) select n, 1 + n % ${users}, n, '{websocket.connect,control.console,control.start,file.read}' from generate_series(10, ${users * serversPerUser}, 10) n;`

/** The first server of each user has sixty entries, every other one three. */
const activity = ({ users, serversPerUser }: Size) => `
insert into activity (id, "timestamp", event, ip, source, actor_id, api_key_id, server_id, user_id, properties)
select row_number() over (), now() - n * interval '1 hour', (array['server:power.start','server:console.command','server:file.write','server:backup.start'])[1 + n % 4], '203.0.113.7', 'api',
  1 + (s - 1) % ${users}, 1 + (s - 1) % ${users}, s, 1 + (s - 1) % ${users}, jsonb_build_object('command', 'say ' || n, 'file', '/config.yml')
from generate_series(1, ${users * serversPerUser}) s, generate_series(1, case when s <= ${users} then 60 else 3 end) n;`
