import { createServer, type Server } from 'node:http'
import { Client } from 'pg'
import { sessionId } from '../../src/domain/auth/sessions.ts'
import { digest, encrypt, importKeyRing, type SecretLocation } from '../../src/domain/secrets.ts'

/** The panel's clock while the answers are recorded. */
export const answersNow = '2026-11-20T12:00:00.000Z'

/** Counts of rows. */
export const counts = { users: 40, nodes: 6, eggs: 6, servers: 120, activity: 600 }

const padded = (n: number, length: number) => String(n).padStart(length, '0')
export const serverUuid = (n: number) => `${padded(n, 8)}-5e47-4000-8000-${padded(n, 12)}`
export const backupUuid = (n: number) => `${padded(n, 8)}-bac0-4000-8000-${padded(n, 12)}`
export const userUuid = (n: number) => `${padded(n, 8)}-05e4-4000-8000-${padded(n, 12)}`
const nodeUuid = (n: number) => `${padded(n, 8)}-40de-4000-8000-${padded(n, 12)}`

const secret = 'S'.repeat(32)
const nodeSecret = 'N'.repeat(64)
const sessionToken = (n: number) => `Session${padded(n, 41)}`

/** Headers of the callers that the answers are recorded for. */
export const callers: Record<string, Record<string, string>> = {
  none: {},
  wrong: { authorization: `Bearer ptlc_${padded(2, 11)}${'X'.repeat(32)}` },
  admin: { authorization: `Bearer ptlc_${padded(1, 11)}${secret}` },
  owner: { authorization: `Bearer ptlc_${padded(2, 11)}${secret}` },
  subuser: { authorization: `Bearer ptlc_${padded(3, 11)}${secret}` },
  other: { authorization: `Bearer ptlc_${padded(5, 11)}${secret}` },
  limited: { authorization: `Bearer ptlc_${padded(6, 11)}${secret}` },
  application: { authorization: `Bearer ptla_${padded(1, 11)}${secret}` },
  servers_only: { authorization: `Bearer ptla_${padded(2, 11)}${secret}` },
  demoted: { authorization: `Bearer ptla_${padded(3, 11)}${secret}` },
  node: { authorization: `Bearer tokenid${padded(1, 9)}.${nodeSecret}` },
  other_node: { authorization: `Bearer tokenid${padded(2, 9)}.${nodeSecret}` },
  owner_session: { cookie: `roost_session=${sessionToken(2)}` },
  admin_session: { cookie: `roost_session=${sessionToken(1)}` },
}

/** Seeds the same rows, with the same ids, into an empty database; the daemon of every node listens at `port`. */
export async function seedAnswersWorld(url: string, secretKeys: string, port: number): Promise<void> {
  const keys = await importKeyRing(secretKeys)
  const at = (location: SecretLocation, text: string) => encrypt({ keys }, text, location)
  const client = new Client(url)
  await client.connect()
  try {
    await client.query("set time zone 'UTC'")
    for (const statement of [
      people(),
      places(port),
      servers(),
      belongings(),
      activity(),
      odds(),
      continueIds,
    ])
      await client.query(withGivenIds(statement))
    for (let n = 1; n <= counts.nodes; n += 1) {
      const token = await at({ table: 'nodes', column: 'daemon_token', row: nodeUuid(n) }, nodeSecret)
      await client.query('update nodes set daemon_token = $1 where id = $2', [token, n])
    }
    await client.query('update database_hosts set password = $1', [
      await at({ table: 'database_hosts', column: 'password', row: '1' }, 'host password'),
    ])
    for (let n = 1; n <= 4; n += 1) {
      const location = { table: 'databases', column: 'password', row: `1/u${n}` } as const
      await client.query('update databases set password = $1 where id = $2', [
        await at(location, `password ${n}`),
        n,
      ])
    }
    await client.query('analyze')
  } finally {
    await client.end()
  }
}

/** Lets the database continue to generate ids behind those that were given. */
export const continueIds = `
do $$ declare t record; begin
  for t in select c.table_name, pg_get_serial_sequence(c.table_name, 'id') as sequence from information_schema.columns c where c.table_schema = 'public' and c.column_name = 'id' loop
    if t.sequence is not null then perform setval(t.sequence, 10000000); end if;
  end loop;
end $$;`

/** Lets insertions give the ids that the database would generate. */
export const withGivenIds = (statement: string) =>
  statement.replaceAll(/(insert into \w+ \([^)]*\))/g, '$1 overriding system value')

const day = (expression: string) => `'2026-11-20T12:00:00Z'::timestamptz - ${expression} * interval '1 hour'`

const people = () => `
insert into users (id, uuid, external_id, username, email, first_name, last_name, language, root_admin, created_at, updated_at, email_verified_at, pending_email, blur_sensitive_data)
select n, (lpad(n::text, 8, '0') || '-05e4-4000-8000-' || lpad(n::text, 12, '0'))::uuid, case when n % 3 = 0 then 'ext-user-' || n end,
  'user' || n, 'user' || n || '@example.test', 'Ümit ' || n, 'O''Neil "' || n || '" <b>', case when n % 4 = 0 then 'de' else 'en' end, n in (1, 7),
  ${day('n')}, ${day('n / 2.0')}, case when n % 5 > 0 then ${day('n')} end, case when n = 8 then 'new8@example.test' end, n % 2 = 0
from generate_series(1, ${counts.users}) n;
insert into api_keys (id, user_id, type, identifier, secret_hash, description, allowed_ips, acl, last_used_at, expires_at, created_at, updated_at)
select n, n, 'account', 'ptlc_' || lpad(n::text, 11, '0'), '${digest(secret)}', 'key ' || n,
  case when n = 6 then array['198.51.100.0/24'] else '{}'::text[] end, '{}', ${day('0')}, case when n = 9 then ${day('-100')} end, ${day('n')}, ${day('n')}
from generate_series(1, 12) n;
insert into api_keys (id, user_id, type, identifier, secret_hash, description, acl, last_used_at, created_at, updated_at)
select 100 + n, case n when 3 then 4 else 1 end, 'application', 'ptla_' || lpad(n::text, 11, '0'), '${digest(secret)}', 'application ' || n,
  case n when 2 then '{"servers": 1}' else '{"servers":3,"nodes":3,"allocations":3,"users":3,"locations":3,"nests":3,"eggs":3,"database_hosts":3,"server_databases":3,"settings":3,"api_keys":3,"activity":3,"jobs":3}' end::jsonb, ${day('0')}, ${day('n')}, ${day('n')}
from generate_series(1, 3) n;
insert into sessions (id, user_id, ip, user_agent, created_at, last_active_at, expires_at) values
  ('${sessionId(sessionToken(1))}', 1, '192.0.2.1', 'Firefox', ${day('1')}, ${day('0')}, ${day('-400')}),
  ('${sessionId(sessionToken(2))}', 2, '192.0.2.2', 'Chromium "x"', ${day('2')}, ${day('0')}, ${day('-400')}),
  ('${sessionId(sessionToken(3))}', 2, '192.0.2.3', '', ${day('3')}, ${day('1')}, ${day('-400')});
insert into ssh_keys (id, user_id, name, fingerprint, public_key, created_at, updated_at)
select n, 2, 'laptop ' || n, 'fp' || n, 'ssh-ed25519 AAAA' || n, ${day('n')}, ${day('n')} from generate_series(1, 3) n;
insert into identities (id, user_id, provider, issuer, subject, display_name, last_used_at, created_at, updated_at)
values (1, 2, 'github', 'https://github.com', '42', 'octo', null, ${day('5')}, ${day('5')});
insert into passkeys (id, user_id, name, credential_id, public_key, transports, created_at, updated_at)
values (1, 2, 'yubi', 'credential', 'key', '{usb}', ${day('6')}, ${day('6')});`

const places = (port: number) => `
insert into locations (id, short, long, region, created_at, updated_at)
select n, 'loc' || n, case when n % 2 = 0 then 'Place "' || n || '" & co' end, case when n = 3 then 'eu' end, ${day('n')}, ${day('n')} from generate_series(1, 5) n;
insert into nodes (id, uuid, public, name, description, location_id, fqdn, scheme, maintenance_mode, memory, memory_overallocate, disk, disk_overallocate, daemon_listen, country_code, sftp_domain, daemon_token_id, daemon_token, created_at, updated_at)
select n, (lpad(n::text, 8, '0') || '-40de-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n <> 6, 'node-' || n, case when n % 2 = 0 then 'Node no. ' || n end, 1 + n % 3,
  '127.0.0.1', 'http', n = 5, 1000000, n - 2, 10000000, 0, ${port}, case when n = 3 then 'DE' end, case when n = 2 then 'sftp.example.test' end, 'tokenid' || lpad(n::text, 9, '0'), 'x', ${day('n')}, ${day('n')}
from generate_series(1, ${counts.nodes}) n;
insert into nests (id, uuid, author, name, description, created_at, updated_at)
select n, (lpad(n::text, 8, '0') || '-4e57-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'author@example.test', 'Nest ' || n, case when n = 2 then 'Second' end, ${day('n')}, ${day('n')} from generate_series(1, 3) n;
insert into eggs (id, uuid, nest_id, author, name, description, features, docker_images, file_denylist, config_files, config_startup, config_logs, config_stop, config_from, startup, copy_script_from, script_install, force_outgoing_ip, created_at, updated_at, query_game)
select n, (lpad(n::text, 8, '0') || '-0e99-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 1 + n % 3, 'author@example.test', 'Egg ' || n, 'An egg', '["eula","pid_limit"]',
  '{"Java 21":"ghcr.io/java:21","Java 17":"ghcr.io/java:17"}', case when n = 1 then '{secret.txt,*.key}' else '{}' end::text[],
  case when n <> 3 then '{"server.properties":{"parser":"properties","find":{"server-port":"{{server.build.default.port}}","motd":"{{env.VAR_1}}"}}}' end::json,
  case when n <> 3 then '{"done":"Done ("}' end::json, case when n <> 3 then '{}' end::json, case when n <> 3 then 'stop' end, case when n = 3 then 1 end,
  'java -Xmx{{SERVER_MEMORY}}M -jar {{VAR_1}} {{VAR_2}}', case when n = 3 then 2 end, case when n <> 3 then 'echo installed' end, n = 4, ${day('n')}, ${day('n')}, case when n = 1 then 'minecraft' end
from generate_series(1, ${counts.eggs}) n;
insert into egg_variables (id, egg_id, name, description, env_variable, default_value, user_viewable, user_editable, rules, created_at, updated_at)
select e * 100 + v, e, 'Variable ' || v, case when v % 3 = 0 then 'About "' || v || '"' else '' end, 'VAR_' || v, case when v % 4 = 0 then '' else 'default ' || v end, v % 5 > 0, v % 5 > 1,
  case v % 3 when 0 then 'nullable|string|max:64' when 1 then 'required|string|max:64' else 'required|boolean' end, ${day('v')}, ${day('v')}
from generate_series(1, ${counts.eggs}) e, generate_series(1, e * 3) v;
insert into allocations (id, node_id, ip, ip_alias, port, notes, created_at, updated_at)
select n, 1 + n % 5, case when n % 7 = 0 then '2001:db8::' || n else '198.51.100.' || (n % 200) end, case when n % 4 = 0 then 'play' || n || '.example.test' end, 20000 + n,
  case when n % 6 = 0 then 'note "' || n || '"' end, ${day('n')}, ${day('n')} from generate_series(1, 400) n;`

const servers = () => `
begin;
insert into servers (id, uuid, uuid_short, external_id, node_id, owner_id, egg_id, allocation_id, name, description, status, skip_scripts, memory, swap, disk, io, cpu, threads, oom_disabled, startup, image, variables, database_limit, allocation_limit, backup_limit, installed_at, created_at, updated_at)
select n, (lpad(n::text, 8, '0') || '-5e47-4000-8000-' || lpad(n::text, 12, '0'))::uuid, lpad(n::text, 8, '0'), case when n % 5 = 0 then 'ext-' || n end, 1 + n % 5,
  case when n <= 70 then 2 when n <= 90 then 4 else 10 + n % 20 end, 1 + n % ${counts.eggs}, n, case n % 6 when 0 then 'Größe "' || n || '" 100%_' else 'Server ' || n end, case when n % 3 = 0 then 'Described\n' || n else '' end,
  case n when 3 then 'suspended' when 4 then 'installing' when 7 then 'install_failed' when 8 then 'restoring_backup' end, n % 9 = 0, 512 * (1 + n % 4), case n % 3 when 0 then -1 else 0 end, 1024 * (1 + n % 3), 500, 50 * (n % 5),
  case when n % 10 = 0 then '0-3' end, n % 2 = 0, 'java -Xmx{{SERVER_MEMORY}}M -jar {{VAR_1}} {{SERVER_PORT}}', 'ghcr.io/java:21', case when n % 2 = 0 then '{"VAR_1":"set \\"x\\"","VAR_2":"1","VAR_5":"hidden"}' else '{}' end::jsonb,
  case when n % 4 > 0 then n % 4 end, case when n % 2 = 0 then 5 end, n % 3, case when n <> 4 then ${day('n')} end, ${day('n')}, ${day('n / 3.0')}
from generate_series(1, ${counts.servers}) n;
update allocations set server_id = id where id <= ${counts.servers};
update allocations set server_id = id - 120 where id between 121 and 240;
update allocations a set node_id = s.node_id from servers s where s.id = a.server_id;
update nodes n set used_memory = (select coalesce(sum(memory), 0) from servers where node_id = n.id), used_disk = (select coalesce(sum(disk), 0) from servers where node_id = n.id);
commit;
insert into subusers (id, user_id, server_id, permissions, pending, created_at, updated_at)
select n, 3, n, case n % 4 when 0 then array['websocket.connect'] when 1 then array['websocket.connect','control.console','control.start','file.read','file.read-content','backup.read','schedule.read','allocation.read','startup.read','database.read','activity.read','user.read']
  when 2 then array['activity.read','backup.read','backup.download','database.read','database.view_password','startup.read','file.read'] else '{}'::text[] end, n = 12, ${day('n')}, ${day('n')} from generate_series(1, 12) n;
insert into subusers (id, user_id, server_id, permissions, created_at, updated_at) values
  (50, 2, 75, '{websocket.connect,activity.read}', ${day('1')}, ${day('1')}), (51, 8, 1, '{control.start}', ${day('2')}, ${day('2')}), (52, 9, 1, '{websocket.connect}', ${day('3')}, ${day('3')});
insert into transfers (id, server_id, old_node_id, new_node_id, old_allocation_id, new_allocation_id, successful, deadline_at, created_at, updated_at) values
  (1, 5, 1, 2, 5, 300, null, ${day('-9')}, ${day('1')}, ${day('1')}), (2, 6, 1, 2, 6, 301, true, null, ${day('20')}, ${day('19')});`

const belongings = () => `
insert into backups (id, uuid, server_id, name, ignored_files, disk, upload_id, is_successful, is_locked, is_scheduled, checksum, bytes, completed_at, created_at, updated_at)
select n, (lpad(n::text, 8, '0') || '-bac0-4000-8000-' || lpad(n::text, 12, '0'))::uuid, case when n <= 30 then 1 else 2 end, 'Backup ' || n, case when n % 3 = 0 then '{*.log,cache/}' else '{}' end::text[], case when n % 2 = 0 then 's3' else 'wings' end,
  null, n % 4 > 0, n % 5 = 0, n % 6 = 0, case when n % 4 > 0 then 'sha1:abc' || n end, n * 12345678, case when n % 4 > 0 then ${day('n')} end, ${day('n')}, ${day('n')} from generate_series(1, 45) n;
insert into database_hosts (id, name, host, port, username, password, max_databases, node_id, created_at, updated_at) values (1, 'Main', 'db.example.test', 3306, 'root', 'x', 100, 1, ${day('1')}, ${day('1')}), (2, 'Spare "2"', '198.51.100.9', 3307, 'panel', 'x', null, null, ${day('2')}, ${day('2')});
insert into databases (id, server_id, database_host_id, database, username, remote, password, max_connections, state, created_at, updated_at)
select n, case when n < 4 then 1 else 2 end, 1, 's1_db' || n, 'u' || n, '%', 'x', n, case when n = 3 then 'creating' else 'ready' end, ${day('n')}, ${day('n')} from generate_series(1, 4) n;
insert into schedules (id, server_id, name, cron_minute, cron_hour, cron_day_of_month, cron_month, cron_day_of_week, timezone, is_active, is_processing, only_when_online, last_run_at, next_run_at, created_at, updated_at)
select n, 1 + n % 2, 'Schedule ' || n, '*/5', '*', '*', '*', '*', case when n = 2 then 'Europe/Berlin' else 'UTC' end, n % 2 = 0, n = 3, n = 4, case when n > 2 then ${day('n')} end, ${day('-n')}, ${day('n')}, ${day('n')} from generate_series(1, 6) n;
insert into tasks (id, schedule_id, sequence_id, action, payload, time_offset, continue_on_failure, created_at, updated_at)
select s * 10 + t, s, t, case t when 1 then 'command' when 2 then 'power' else 'backup' end, case t when 1 then 'say "hi" ' || s when 2 then 'restart' else '' end, t * 10, t = 2, ${day('t')}, ${day('t')} from generate_series(1, 6) s, generate_series(1, 3) t;
insert into schedule_runs (id, schedule_id, trigger, due_at, state, reason, requested_by, started_at, finished_at)
select (lpad(n::text, 8, '0') || '-5c4e-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 1 + n % 3, case when n % 2 = 0 then 'cron' else 'manual' end, ${day('n')}, case n % 4 when 0 then 'running' when 1 then 'succeeded' when 2 then 'failed' else 'skipped' end,
  case when n % 4 = 3 then 'server_offline' end, case when n % 2 = 1 then 2 end, ${day('n')}, case when n % 4 > 0 then ${day('n')} end from generate_series(1, 30) n;
insert into schedule_steps (id, run_id, task_id, sequence_id, action, payload, state, due_at, finished_at, time_offset)
select n * 10 + t, (lpad(n::text, 8, '0') || '-5c4e-4000-8000-' || lpad(n::text, 12, '0'))::uuid, (1 + n % 3) * 10 + t, t, case t when 1 then 'command' else 'power' end, 'x', case when t = 1 then 'succeeded' else 'failed' end, ${day('n')}, ${day('n')}, 10 from generate_series(1, 30) n, generate_series(1, 2) t;
insert into trash_items (id, server_id, name, path, is_file, ready, deleted_at, expires_at)
select (lpad(n::text, 8, '0') || '-74a5-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, 'file' || n || '.txt', '/logs/file' || n || '.txt', n % 2 = 0, n % 7 > 0, ${day('n')}, ${day('-200')} from generate_series(1, 60) n;
insert into game_queries (server_id, status, players, max_players, game, checked_at, requested_at) values (1, 'online', 3, 20, 'minecraft', ${day('0')}, ${day('0')}), (6, 'offline', null, null, 'minecraft', ${day('0')}, ${day('0')});`

const activity = () => `
insert into activity (id, "timestamp", event, ip, source, actor_id, api_key_id, server_id, user_id, node_id, description, properties)
select n, ${day('n * 3')}, (array['server:power.start','server:console.command','server:file.write','server:sftp.write','auth:login','server:backup.start','user:account.password-changed','server:subuser.create'])[1 + n % 8],
  case when n % 5 > 0 then '203.0.113.' || n % 50 end, (array['web','api','sftp','system'])[1 + n % 4], case n % 6 when 0 then null when 1 then 3 when 2 then 1 else 2 end, case when n % 4 = 1 then 2 end,
  case when n % 8 in (4, 6) then null else 1 + n % 4 end, case when n % 8 in (4, 6) then 2 when n % 9 = 0 then 3 end, case when n % 20 = 0 then 1 end, case when n % 30 = 0 then 'Described' end,
  case n % 8 when 1 then jsonb_build_object('command', 'say ' || n) when 2 then jsonb_build_object('file', '/a "' || n || '".txt') when 3 then jsonb_build_object('files', jsonb_build_array('a', 'b')) when 5 then jsonb_build_object('name', 'Backup ' || n, 'locked', false) else '{}'::jsonb end
from generate_series(1, ${counts.activity}) n;
insert into activity_subjects (activity_id, subject_type, subject_id) select n, 'backup', 1 + n % 30 from generate_series(5, ${counts.activity}, 8) n;`

const odds = () => `
insert into settings (key, value, created_at, updated_at) values ('sign_in.registration', 'true', ${day('1')}, ${day('1')}), ('regions.endpoints', '{"eu":"https://eu.example.test"}', ${day('1')}, ${day('1')});
insert into jobs (id, name, payload, key, state, run_at, attempts, deadline_at, last_error, finished_at, created_at, updated_at)
select (lpad(n::text, 8, '0') || '-0b00-4000-8000-' || lpad(n::text, 12, '0'))::uuid, (array['mail.send','servers.install','activity.prune'])[1 + n % 3], '{"n":1}', 'key ' || n, (array['waiting','done','dead'])[1 + n % 3], ${day('-n')}, n % 5, ${day('-200')},
  case when n % 3 = 2 then 'It failed.' end, case when n % 3 > 0 then ${day('n')} end, ${day('n')}, ${day('n')} from generate_series(1, 40) n;`

const folder = Array.from({ length: 25 }, (_, n) => ({
  name: n % 5 === 0 ? `folder ${n}` : `file-${n}.txt`,
  created: '2026-03-01T12:00:00+02:00',
  modified: `2026-03-${padded(1 + n, 2)}T12:00:00Z`,
  mode: '-rw-r--r--',
  mode_bits: '644',
  size: n * 1000,
  directory: n % 5 === 0,
  file: n % 5 !== 0,
  symlink: n === 3,
  mime: 'text/plain',
}))

const resources = {
  state: 'running',
  is_suspended: false,
  utilization: {
    memory_bytes: 123_456_789,
    memory_limit_bytes: 536_870_912,
    cpu_absolute: 12.345,
    disk_bytes: 987_654_321,
    network: { rx_bytes: 1234, tx_bytes: 5678 },
    uptime: 98_765,
    state: 'running',
  },
}

/** Starts a daemon with constant answers at `port`; waits while another recording uses it. */
export async function startAnswersDaemon(port: number): Promise<Server> {
  const daemon = createServer((request, response) => {
    request.resume().on('end', () => {
      const { pathname } = new URL(request.url ?? '', 'http://daemon.test')
      const send = (body: unknown) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (pathname.endsWith('/files/list-directory')) return send(folder)
      if (pathname.endsWith('/files/contents'))
        return response.writeHead(200, { 'content-type': 'text/plain' }).end('first line\nsecond — line\n')
      if (pathname === '/api/servers') return send([])
      if (pathname === '/api/system') return send({ version: '1.11.13' })
      return send(resources)
    })
  })
  for (;;) {
    const isListening = await new Promise<boolean>((resolve) => {
      daemon.once('error', () => resolve(false))
      daemon.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (isListening) return daemon
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
