import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'
import type { OldVersion } from './old-schema.ts'

const hasServers = (await findPostgres('moving in from broken databases')) && hasMysql
/** A row without a parent: its table, its values, and what is said of it. */
type Orphan = [table: string, row: Record<string, string | number>, reason: string]

const versions: OldVersion[] = ['1.11', 'pelican']

describe.skipIf(!hasServers).each(versions)('a database of %s', (version) => {
  const kind = version === 'pelican' ? 'pelican' : 'pterodactyl'
  const short = version === 'pelican' ? 'uuid_short' : 'uuidShort'
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let old: OldDatabase
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await createDatabase()
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url })
    await cli.script('scripts/migrate.ts')
  }, 120_000)
  beforeEach(async () => {
    old = await createOldDatabase(version)
  }, 60_000)
  afterEach(() => old?.drop())
  afterAll(async () => {
    await sql?.end()
    await cli?.remove()
    await database?.drop()
  })

  const move = () => cli.json(`import:${kind}`, '--database', old.url, '--app-key', appKeyText)
  const countRows = async () => {
    const [{ rows } = { rows: -1 }] = await sql<{ rows: number }[]>`select ((select count(*) from users)
      + (select count(*) from nodes) + (select count(*) from servers) + (select count(*) from moved_rows))::int as rows`
    return rows
  }

  // The index of each was dropped, as by an operator who restored tables one by one.
  it.each<[string, string[], string, RegExp]>([
    [
      'two nodes with one token id',
      [
        'alter table nodes drop index daemon_token_id',
        'create temporary table more as select * from nodes',
        "update more set id = 8, uuid = 'a0000008-0000-4000-8000-000000000000', name = 'Other'",
        'insert into nodes select * from more',
      ],
      'nodes',
      /^8: has the daemon token id of row 7$/,
    ],
    [
      'short ids twice',
      [`alter table servers drop index ${short}`, `update servers set ${short} = 'DEADBEEF' where id = 30`],
      'servers',
      /^31: has the uuid short of row 30$/,
    ],
    [
      'uuids of servers twice',
      [
        'alter table servers drop index uuid',
        'update servers set uuid = (select uuid from (select uuid from servers where id = 30) as s) where id = 31',
      ],
      'servers',
      /^31: has the uuid of row 30$/,
    ],
    [
      'external ids of servers twice',
      [
        'alter table servers drop index external_id',
        "update servers set external_id = 'one' where id in (30, 31)",
      ],
      'servers',
      /^31: has the external id of row 30$/,
    ],
    [
      'addresses twice',
      [
        'alter table allocations add index (node_id), drop index node_id',
        'update allocations set port = 25565 where id = 41',
      ],
      'allocations',
      /^41: has the node id, ip, port of row 40$/,
    ],
    [
      'e-mail addresses that differ in case',
      ['alter table users drop index email', "update users set email = 'ADA@old.example' where id = 6"],
      'users',
      /^6: has the email of row 5$/,
    ],
    [
      'names that differ in case',
      ['alter table users drop index username', "update users set username = 'ADA' where id = 6"],
      'users',
      /^6: has the username of row 5$/,
    ],
    [
      'identifiers of keys twice',
      [
        'alter table api_keys drop index identifier',
        'update api_keys set identifier = (select identifier from (select identifier from api_keys where id = 1) as k) where id = 2',
      ],
      'api_keys',
      /^2: has the identifier of row 1$/,
    ],
    [
      'uuids of eggs twice',
      [
        'alter table eggs drop index uuid',
        'update eggs set uuid = (select uuid from (select uuid from eggs where id = 21) as e) where id = 22',
      ],
      'eggs',
      /^22: has the uuid of row 21$/,
    ],
    [
      'uuids of backups twice',
      [
        'alter table backups drop index uuid',
        "update backups set completed_at = '2024-03-01 10:00:00', uuid = (select uuid from (select uuid from backups where id = 1) as b) where id = 2",
      ],
      'backups',
      /^2: has the uuid of row 1$/,
    ],
  ])(
    'is refused with %s, by its table and id, before anything is written',
    { timeout: 60_000 },
    async (_, statements, table, problem) => {
      for (const statement of statements) await old.query(statement)
      const { code, body } = await move()
      expect([code, body.error]).toEqual([1, 'Nothing was written.'])
      expect(body.issues).toContainEqual({ field: table, problem: expect.stringMatching(problem) })
      expect(await countRows()).toBe(0)
    },
  )

  it('moves without its orphans, each of which is named', { timeout: 60_000 }, async () => {
    const uuid = (id: number) => `c0000${id}-0000-4000-8000-000000000000`
    const server = {
      owner_id: 5,
      node_id: 7,
      egg_id: 21,
      allocation_id: 300,
      startup: '',
      image: '',
      description: '',
    }
    const common: Orphan[] = [
      [
        'api_keys',
        { user_id: 99, identifier: 'orphan0000000000', token: '' },
        'user_id names a row of users',
      ],
      [
        'user_ssh_keys',
        { user_id: 99, name: '', fingerprint: '', public_key: '' },
        'user_id names a row of users',
      ],
      [
        'egg_variables',
        { egg_id: 99, env_variable: 'A', name: '', rules: '[]' },
        'egg_id names a row of eggs',
      ],
      [
        'servers',
        { ...server, uuid: uuid(200), [short]: 'orphan00', node_id: 99 },
        'node_id names a row of nodes',
      ],
      ['subusers', { user_id: 99, server_id: 30 }, 'user_id names a row of users'],
      ['schedules', { server_id: 99 }, 'server_id names a row of servers'],
      ['tasks', { schedule_id: 99, action: 'power' }, 'schedule_id names a row of schedules'],
      [
        'databases',
        { server_id: 99, database_host_id: 1, database: 'a', username: 'a' },
        'server_id names a row of servers',
      ],
      ['backups', { server_id: 99, uuid: uuid(201) }, 'server_id names a row of servers'],
      [
        'server_variables',
        { server_id: 99, variable_id: 1, variable_value: '' },
        'has no server or no variable',
      ],
    ]
    const own: Record<string, Orphan[]> = {
      pelican: [
        [
          'passkeys',
          { user_id: 99, name: '', credential_id: 'a', credential: '{}' },
          'user_id names a row of users',
        ],
      ],
      pterodactyl: [
        [
          'nodes',
          { location_id: 99, uuid: uuid(202), daemon_token_id: 'orphan' },
          'location_id names a row of locations',
        ],
        ['eggs', { nest_id: 99, uuid: uuid(203), name: '' }, 'nest_id names a row of nests'],
        ['recovery_tokens', { user_id: 99, token: '' }, 'its user has no second factor'],
      ],
    }
    const orphans = [...common, ...(own[kind] ?? [])]
    for (const [table, row] of orphans) await old.insert(table, { id: 200, ...row })
    // Of an egg, a server and a host that are gone, too; and what is free then.
    await old.insert('servers', {
      ...server,
      id: 201,
      uuid: uuid(204),
      [short]: 'orphan01',
      egg_id: 99,
      allocation_id: 200,
    })
    await old.insert('subusers', { id: 201, user_id: 6, server_id: 99 })
    await old.insert('databases', {
      id: 201,
      server_id: 30,
      database_host_id: 99,
      database: 'b',
      username: 'b',
    })
    await old.insert('allocations', { id: 200, node_id: 7, ip: '10.0.0.1', port: 25_570, server_id: 201 })
    if (kind === 'pelican')
      await old.insert('mountables', { mount_id: 2, mountable_type: 'App\\Models\\Egg', mountable_id: 99 })
    else await old.insert('egg_mount', { mount_id: 2, egg_id: 99 })
    const { code, body } = await move()
    expect([code, body.error]).toEqual([0, undefined])
    const idsOf = (table: string, reason: string) =>
      body.findings
        .filter((each: any) => each.table === table && each.reason.includes(reason))
        .flatMap(({ ids }: any) => ids)
    for (const [table, , reason] of orphans)
      expect([table, idsOf(table, reason)]).toEqual([table, expect.arrayContaining([200])])
    expect(idsOf('servers', 'egg_id names a row of eggs')).toEqual([201])
    expect(idsOf('subusers', 'server_id names a row of servers')).toEqual([201])
    expect(idsOf('databases', 'database_host_id names a row of database_hosts')).toEqual([201])
    expect(idsOf('allocations', 'is free, as its server is not moved')).toEqual([200])
    expect(await sql`select id from servers order by id`).toEqual([{ id: 30 }, { id: 31 }])
    const verified = await cli.json('import:verify', '--database', old.url, '--app-key', appKeyText)
    expect(verified).toMatchObject({ code: 0, body: { differences: [] } })
  })
})
