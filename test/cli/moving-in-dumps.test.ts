import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase, rowsOfDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'
import type { OldVersion } from './old-schema.ts'

const hasServers = (await findPostgres('moving in from dumps')) && hasMysql
const kindOf = (version: OldVersion) => (version === 'pelican' ? 'pelican' : 'pterodactyl')

let cli: CommandLine
let database: Awaited<ReturnType<typeof createDatabase>>
let sql: postgres.Sql

beforeAll(async () => {
  if (!hasServers) return
  database = await createDatabase()
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  cli = await openCommandLine({ DATABASE_URL: database.url })
  await cli.script('scripts/migrate.ts')
}, 120_000)
afterAll(async () => {
  await sql?.end()
  await cli?.remove()
  await database?.drop()
})

/** Imports; `source` is `--dump FILE` or `--database URL` with more options. */
const move = (version: OldVersion, ...source: string[]) =>
  cli.json(`import:${kindOf(version)}`, '--app-key', appKeyText, ...source)

/** Writes a dump where the command finds it. */
async function fileOf(dump: Buffer | string, name = 'panel.sql'): Promise<string> {
  const path = join(cli.directory, name)
  await writeFile(path, dump)
  return path
}

const emptyPanel = () =>
  sql`truncate users, roles, locations, nodes, nests, mounts, database_hosts, servers, moved_rows cascade`

const versions: [OldVersion, string][] = [
  ['1.7', 'Pterodactyl 1.7'],
  ['1.11', 'Pterodactyl 1.11 or 1.12'],
  ['1.12', 'Pterodactyl 1.11 or 1.12'],
  ['pelican', 'Pelican, beta of 2026'],
]

describe.skipIf(!hasServers).each(versions)('a dump of %s', (version, name) => {
  let old: OldDatabase

  beforeAll(async () => {
    old = await createOldDatabase(version)
  }, 60_000)
  afterAll(() => old?.drop())

  it.each<[string, string[]]>([
    ['as mariadb-dump makes it', []],
    [
      'with a row a statement, columns and hexadecimal blobs',
      ['--skip-extended-insert', '--complete-insert', '--hex-blob'],
    ],
    ['with REPLACE', ['--replace', '--skip-add-locks']],
    ['with INSERT IGNORE and without comments', ['--insert-ignore', '--skip-comments']],
  ])('gives what the database gives, %s', async (_, options) => {
    const live = await rowsOfDatabase(version, { database: old.url })
    expect(live.version).toBe(name)
    expect(live.rows.servers).toHaveLength(4)
    expect(await rowsOfDatabase(version, { dump: await fileOf(await old.dump(...options)) })).toEqual(live)
  })

  it('moves, and each row then equals that of the database', { timeout: 60_000 }, async () => {
    await emptyPanel()
    const path = await fileOf(gzipSync(await old.dump()), 'panel.sql.gz')
    const { code, body } = await move(version, '--dump', path)
    expect(code).toBe(0)
    expect(body.tables).toContainEqual({ table: 'servers', found: 4, movable: 2, written: 2 })
    for (const source of [
      ['--database', old.url],
      ['--dump', path],
    ]) {
      const verified = await cli.json('import:verify', '--app-key', appKeyText, ...source)
      expect(verified).toMatchObject({ code: 0, body: { version: name, differences: [] } })
    }
    expect(await sql`select variables from servers where id = 30`).toEqual([
      { variables: { JAR: 'grün 🎲.jar' } },
    ])
  })
})

describe.skipIf(!hasServers)('dumps with more than tables', () => {
  let old: OldDatabase
  let live: Awaited<ReturnType<typeof rowsOfDatabase>>
  const check = async (dump: Buffer | string, ...options: string[]) =>
    move('1.11', '--dump', await fileOf(dump), '--check', ...options)
  const read = async (dump: Buffer | string) => rowsOfDatabase('1.11', { dump: await fileOf(dump) })

  beforeAll(async () => {
    old = await createOldDatabase('1.11')
    live = await rowsOfDatabase('1.11', { database: old.url })
  }, 60_000)
  afterAll(() => old?.drop())

  it('reads past views, triggers and routines, whatever is written in them', async () => {
    await old.query("create view v as select 'a;b -- c' as x, `id` from users")
    await old.query("set sql_mode = 'NO_BACKSLASH_ESCAPES'")
    await old.query(
      "create trigger t after insert on allocations for each row begin /* don't; */ set @a = 'x\\'; -- it's\n set @b = \"`\"; end",
    )
    await old.query("set sql_mode = ''")
    await old.query(
      "create procedure p() begin insert into users values ('it''s; \\'INSERT INTO users'); end",
    )
    const dump = await old.dump('--routines', '--triggers', '--events', '--databases', old.name)
    await old.query('drop view v')
    await old.query('drop trigger t')
    await old.query('drop procedure p')
    expect(dump.toString()).toMatch(/CREATE DATABASE[\s\S]*USE `[\s\S]*DELIMITER ;;/)
    expect(await read(dump)).toEqual(live)
  })

  it('reads lines that end as in Windows, and a mark of the byte order', async () => {
    const text = (await old.dump()).toString().replaceAll('\n', '\r\n')
    expect(await read(`\ufeff${text}`)).toEqual(live)
  })

  it('reads latin1, and says what was lost when the dump was made', async () => {
    const { rows, notes } = await read(await old.dump('--default-character-set=latin1'))
    expect(notes).toEqual([expect.stringMatching(/latin1: what that lacks, such as emoji, became \?/)])
    expect(rows.server_variables).toMatchObject([{ variable_value: 'grün ?.jar' }])
  })

  it.each([[[]], [['--hex-blob', '--skip-extended-insert']], [['--default-character-set=utf8mb3']]])(
    'reads any text as it was stored, with %s',
    async (options) => {
      const basic = `'"\\\`;,()-#/*!\n\r\t\b\0\u001a %_nN0xäß€漢`
      // utf8mb3 has no emoji.
      const letters = Array.from(options.includes('--default-character-set=utf8mb3') ? basic : `${basic}🎲`)
      const draw = () =>
        Array.from({ length: randomInt(30) }, () => letters[randomInt(letters.length)]).join('')
      const texts = Array.from({ length: 300 }, draw)
      for (const text of texts)
        await old.insert('server_variables', { server_id: 30, variable_id: 1, variable_value: text })
      const { rows } = await read(await old.dump(...options))
      const { rows: stored } = await rowsOfDatabase('1.11', { database: old.url })
      await old.query('delete from server_variables where id > 1')
      const drawn = stored.server_variables?.slice(1)
      expect(drawn?.map(({ variable_value: value }) => value)).toEqual(texts)
      expect(rows.server_variables?.slice(1)).toEqual(drawn)
    },
  )

  it('reads zero dates as none', async () => {
    await old.query(
      "update users set created_at = '0000-00-00 00:00:00', updated_at = '0000-00-00 00:00:00' where id = 6",
    )
    const path = await fileOf(await old.dump())
    await emptyPanel()
    const { code } = await move('1.11', '--dump', path)
    expect(code).toBe(0)
    const [user] = await sql`select created_at > now() - interval '1 hour' as recent from users where id = 6`
    expect(user).toEqual({ recent: true })
    await old.query("update users set created_at = '2024-03-01 10:00:00', updated_at = null where id = 6")
  })

  it('names the tables of plugins and leaves them', async () => {
    await old.query('create table store_plugin (id int primary key, data blob)')
    await old.query("insert into store_plugin values (1, x'ff00275c27'), (2, 'don\\'t;')")
    const [plain, hex] = [await old.dump(), await old.dump('--hex-blob')]
    await old.query('drop table store_plugin')
    for (const dump of [plain, hex])
      expect(await read(dump)).toEqual({ ...live, rows: { ...live.rows, store_plugin: [] } })
    expect((await check(plain)).body.unknownTables).toEqual(['store_plugin'])
  })

  it('reports rows with one address where the unique index was dropped', async () => {
    await old.query('alter table users drop index email')
    await old.query("update users set email = 'ADA@old.example' where id = 6")
    const { code, body } = await move('1.11', '--dump', await fileOf(await old.dump()))
    await old.query("update users set email = 'bob@old.example' where id = 6")
    expect(code).toBe(1)
    expect(JSON.stringify(body)).toContain('6: has the email of row 5')
  })

  it('chooses the database that has a panel, and refuses two', async () => {
    const other = await createOldDatabase('1.7')
    try {
      const both = await old.dump('--databases', old.name, other.name)
      await expect(read(both)).rejects.toThrow(
        new RegExp(`several panels: (?=.*${old.name})(?=.*${other.name}).*Make a dump of one`),
      )
      await other.query('set foreign_key_checks = 0')
      await other.query('drop table nodes, servers')
      const one = await old.dump('--databases', old.name, other.name)
      expect(await read(one)).toEqual(live)
    } finally {
      await other.drop()
    }
  })

  it('reads dates of another zone, and asks for one that is not stated', async () => {
    await emptyPanel()
    const path = await fileOf(await old.dump('--skip-tz-utc'))
    const refused = await move('1.11', '--dump', path)
    expect(refused).toMatchObject({
      code: 1,
      body: { error: expect.stringMatching(/does not state the time zone.*--dump-timezone/) },
    })
    const { code } = await move('1.11', '--dump', path, '--dump-timezone', 'Europe/Berlin')
    expect(code).toBe(0)
    expect(await sql`select created_at from servers where id = 30`).toEqual([
      { created_at: new Date('2024-03-01T09:00:00Z') },
    ])
  })

  it.each<[string, (whole: Buffer) => Buffer, RegExp]>([
    [
      'between two statements',
      (whole) => whole.subarray(0, whole.indexOf('UNLOCK TABLES') + 15),
      /cut off at line \d+ \(byte \d+\), in or after the table activity_log_subjects/,
    ],
    [
      'in a row',
      (whole) => whole.subarray(0, whole.indexOf('Server 30') + 4),
      /cut off at line \d+ \(byte \d+\), in the rows of servers/,
    ],
    [
      'in the text of a row',
      (whole) => whole.subarray(0, whole.indexOf('bob@old') + 3),
      /cut off at line \d+ \(byte \d+\), in the rows of users/,
    ],
    [
      'in a statement that is not read',
      (whole) => whole.subarray(0, whole.lastIndexOf('DISABLE KEYS')),
      /cut off: the statement at line \d+ \(byte \d+\) has no end/,
    ],
    [
      'before its last line',
      (whole) => whole.subarray(0, whole.lastIndexOf('UNLOCK TABLES') + 15),
      /"-- Dump completed" is missing/,
    ],
    [
      'as gzip',
      (whole) => gzipSync(whole).subarray(0, 4000),
      /torn or damaged: unexpected end of file, line \d+ \(byte \d+\)/,
    ],
    [
      'with a byte of the gzip changed',
      (whole) => changed(gzipSync(whole)),
      /torn or damaged|cut off|no statement|is not/,
    ],
  ])('refuses a dump that is cut %s', async (_, cut, reason) => {
    await expect(read(cut(await old.dump()))).rejects.toThrow(reason)
  })

  it('writes nothing of a dump that is cut off', async () => {
    await emptyPanel()
    const whole = await old.dump()
    const { code, body } = await move(
      '1.11',
      '--dump',
      await fileOf(whole.subarray(0, whole.lastIndexOf('UNLOCK TABLES') + 15)),
    )
    expect(code).toBe(1)
    expect(body.error).toMatch(/^The dump is cut off at line \d+ \(byte \d+\), in or after the table users/)
    expect(await sql`select id from users`).toEqual([])
  })

  it.each<[string, string[], RegExp]>([
    ['without rows', ['--no-data'], /lacks the rows of .*users/],
    [
      'with marks but without a table',
      ['--ignore-table=DB.nodes'],
      /no database with the tables users, nodes, servers/,
    ],
    ['without the statements of tables', ['--no-create-info'], /whose CREATE TABLE is not in/],
    ['without its last line', ['--compact'], /does not state the time zone|"-- Dump completed" is missing/],
    [
      'in a character set that cannot be read',
      ['--default-character-set=sjis'],
      /character set sjis.*--default-character-set=utf8mb4/,
    ],
  ])('refuses a dump %s', async (_, options, reason) => {
    const dump = await old.dump(...options.map((text) => text.replace('DB', old.name)))
    await expect(read(dump)).rejects.toThrow(reason)
  })
})

/** Flips a byte in the middle. */
function changed(bytes: Buffer): Buffer {
  const at = bytes.length >> 1
  bytes[at] = bytes[at]! ^ 0xff
  return bytes
}
