import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ByteWindow } from '../../src/cli/move-in/dump-bytes.ts'
import { readDump, readWindow } from '../../src/cli/move-in/read-dump.ts'
import { utcOf } from '../../src/cli/move-in/source-zone.ts'
import type { SourceRow, Spool } from '../../src/cli/move-in/spool.ts'

const header = "/*!40101 SET NAMES utf8mb4 */;\n/*!40103 SET TIME_ZONE='+00:00' */;\n"
const tables = `CREATE TABLE \`users\` (
  \`id\` int(10) unsigned NOT NULL AUTO_INCREMENT COMMENT 'a, \\'b\\' (c',
  \`username\` varchar(191) DEFAULT 'x,y',
  \`email\` varchar(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  \`use_totp\` tinyint(1) NOT NULL,
  \`created_at\` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (\`id\`), UNIQUE KEY \`users_email\` (\`email\`)
) ENGINE=InnoDB /*!50100 PARTITION BY KEY (id) */;
CREATE TABLE IF NOT EXISTS nodes (id int);
CREATE TABLE servers (id int);
`
const footer = '-- Dump completed on 2026-01-01\n'

/** A stream of bytes in chunks of one size. */
function chunked(bytes: Buffer, size: number): ByteWindow {
  function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  return new ByteWindow(Readable.from(chunks()))
}

async function rowsOf(spool: Spool, table = 'users'): Promise<SourceRow[]> {
  const rows: SourceRow[] = []
  for await (const batch of spool.batches(table)) rows.push(...batch)
  await spool.remove()
  return rows
}

const read = async (text: string | Buffer, size = 1 << 20) =>
  rowsOf(await readWindow(chunked(Buffer.from(text as string), size), 'panel.sql', { kind: 'pterodactyl' }))
const user = (id: number, username: unknown, rest: object = {}) => ({
  id,
  username,
  email: 'a@b',
  use_totp: 0,
  created_at: null,
  ...rest,
})

const oddities = `/*M!999999\\- enable the sandbox mode */ \n# a comment; with '\n${header}${tables}
/* a comment; INSERT INTO users VALUES (9) */
LOCK TABLES \`users\` WRITE;
/*!40000 ALTER TABLE \`users\` DISABLE KEYS */;
INSERT INTO \`users\` VALUES (1,'it''s \\'\\\\\\n\\t\\Z\\0\\%\\q "grün" 🎲','a@b',0,'0000-00-00 00:00:00'),\r
 ( 2 , NULL , _binary 'a@b' , 1 , '2024-03-01 10:00:00' );
INSERT INTO \`users\` (\`email\`, \`id\`) VALUES ('a@b',3);
REPLACE INTO users VALUES (4,0x6772C3BC6E,_utf8mb4'a@b',b'1',NULL);
INSERT IGNORE INTO \`users\` VALUES (5,x'4142',"a@b",true,NULL);
insert into users values (6,'','a@b',-7,null);
UNLOCK TABLES;
LOCK TABLES nodes WRITE;
LOCK TABLES \`servers\` WRITE;
UNLOCK TABLES;
/*!50001 CREATE TABLE \`names\` (\`a;\` tinyint) */;
DELIMITER ;;
/*!50003 CREATE*/ /*!50003 TRIGGER t BEGIN SET @a = ';;'; -- don't;;\n END */;;
DELIMITER ;
INSERT INTO \`store\` VALUES ('\\\\'),('\\';'),('INSERT INTO users VALUES (7)');
${footer}`

describe('statements of a dump', () => {
  it.each([1, 2, 3, 5, 17, 64, 1 << 20])('are read alike in chunks of %d bytes', async (size) => {
    expect(await read(oddities, size)).toEqual([
      user(1, `it's '\\\n\t\u001a\u0000\\%q "grün" 🎲`, { created_at: '0000-00-00 00:00:00' }),
      user(2, null, { use_totp: 1, created_at: '2024-03-01 10:00:00' }),
      { id: 3, email: 'a@b' },
      user(4, 'grün', { use_totp: 1 }),
      user(5, 'AB', { use_totp: 1 }),
      user(6, '', { use_totp: -7 }),
    ])
  })

  it('have backslashes as they are under NO_BACKSLASH_ESCAPES, until it ends', async () => {
    const rows = await read(`${header}${tables}
      /*!50003 SET @saved_sql_mode = @@sql_mode */ ;
      /*!50003 SET sql_mode = 'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES' */ ;
      INSERT INTO other VALUES ('\\');
      INSERT INTO users VALUES (1,'a\\','a@b',0,NULL);
      /*!50003 SET sql_mode = @saved_sql_mode */ ;
      INSERT INTO users VALUES (2,'a\\'b','a@b',0,NULL);
      ${footer}`)
    expect(rows.map(({ username }) => username)).toEqual(['a\\', "a'b"])
  })

  it('are read as phpMyAdmin writes them', async () => {
    const rows = await read(`-- phpMyAdmin SQL Dump
SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO";
START TRANSACTION;
SET time_zone = "+00:00";
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET NAMES utf8mb4 */;
${tables}
INSERT INTO \`users\` (\`id\`, \`username\`, \`email\`, \`use_totp\`, \`created_at\`) VALUES
(1, 'a', 'a@b', 0, NULL),
(2, 'b', 'a@b', 0, NULL);
ALTER TABLE \`users\` ADD PRIMARY KEY (\`id\`);
COMMIT;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
`)
    expect(rows).toEqual([user(1, 'a'), user(2, 'b')])
  })

  it('longer than 16 MiB are read and skipped in little memory', async () => {
    const row = (id: number) => `(${id},'${'n'.repeat(1000)}','a@b',0,NULL)`
    function* parts() {
      yield Buffer.from(`${header}${tables}`)
      for (const table of ['users', 'store']) {
        yield Buffer.from(`INSERT INTO ${table} VALUES ${row(0)}`)
        for (let id = 1; id < 20_000; id += 10)
          yield Buffer.from(`,${Array.from({ length: 10 }, (_, at) => row(id + at)).join(',')}`)
        yield Buffer.from(';\n')
      }
      yield Buffer.from(`INSERT INTO store VALUES ('`)
      for (let mebibyte = 0; mebibyte < 17; mebibyte += 1) yield Buffer.alloc(1 << 20, "\\'")
      yield Buffer.from(`');\n${footer}`)
    }
    let largest = 0
    class Watched extends ByteWindow {
      override async fill() {
        const filled = await super.fill()
        largest = Math.max(largest, this.bytes.length)
        return filled
      }
    }
    const window = new Watched(Readable.from(parts()))
    const spool = await readWindow(window, 'panel.sql', { kind: 'pterodactyl' })
    expect(spool.counts.get('users')).toBe(20_001)
    await spool.remove()
    expect(largest).toBeLessThan(3 << 20)
  })

  const users = (rest: string) => `${header}${tables}${rest}\n${footer}`
  it.each<[string, string, RegExp]>([
    [
      'another number of values',
      users('INSERT INTO users VALUES (1,2);'),
      /line 13 .*users has 2 values for 5 columns/,
    ],
    [
      'a column that is not there',
      users('INSERT INTO users (id, nick) VALUES (1,2);'),
      /line 13 .*users has no column nick/,
    ],
    ['rows from a query', users('INSERT INTO users SELECT * FROM old;'), /line 13 .*names no table and rows/],
    [
      'a value that is none',
      users('INSERT INTO users VALUES (1,now(),1,1,1);'),
      /line 13 .*"now\(" is not a value/,
    ],
    [
      'a second statement after a row',
      users("INSERT INTO users VALUES (1,'a','a',0,NULL) ON DUPLICATE KEY UPDATE id=1;"),
      /line 13 .*expected a comma/,
    ],
    [
      'a table twice',
      users('CREATE TABLE users (id int);'),
      /line 13 .*second CREATE TABLE of users.*two dumps/,
    ],
  ])('are refused with %s, with the line', async (_, text, reason) => {
    await expect(read(text)).rejects.toThrow(reason)
  })

  it('are refused with bytes of another character set', async () => {
    const bytes = Buffer.from(users("INSERT INTO users VALUES (1,'gr\u00fcn','a',0,NULL);"), 'latin1')
    await expect(read(bytes)).rejects.toThrow(/line 13 .*row of users: .*character set of the dump/)
    const latin1 = Buffer.from(bytes.toString('latin1').replace('NAMES utf8mb4', 'NAMES latin1'), 'latin1')
    expect(await read(latin1)).toMatchObject([{ username: 'grün' }])
  })

  it.each([
    ['-05:30', '2024-03-01 15:30:00'],
    ['UTC', '2024-03-01 10:00:00'],
    ['America/New_York', '2024-03-01 15:00:00'],
  ])('have dates in the zone %s that they state', async (zone, instant) => {
    const text = users("INSERT INTO users VALUES (1,'a','a',0,'2024-03-01 10:00:00');").replace(
      '+00:00',
      zone,
    )
    expect(await read(text)).toMatchObject([{ created_at: instant }])
  })
})

describe('a date of a zone', () => {
  it.each([
    ['2024-07-01 12:00:00', '2024-07-01 10:00:00'],
    ['2024-01-01 12:00:00', '2024-01-01 11:00:00'],
    ['2024-03-31 03:00:00', '2024-03-31 01:00:00'],
    ['2024-10-27 02:30:00', '2024-10-27 00:30:00'],
    ['0000-00-00 00:00:00', '0000-00-00 00:00:00'],
  ])('%s of Berlin is %s in UTC', (wall, instant) => {
    expect(utcOf(wall, 'Europe/Berlin')).toBe(instant)
  })
})

describe('a file that is no dump', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-dumps-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  const text = Buffer.from(`${header}${tables}${footer}`)
  it.each<[string, Buffer, RegExp]>([
    ['empty', Buffer.alloc(0), /is empty/],
    ['a zip', Buffer.from('PK\u0003\u0004rest'), /is a zip file: unpack it/],
    ['zstd', zstdCompressSync(text), /packed with zstd: unpack it/],
    ['UTF-16 of PowerShell', Buffer.from(`\ufeff${text.toString()}`, 'utf16le'), /UTF-16.*--result-file/],
    ['an archive of pg_dump', Buffer.from('PGDMP\u0001'), /archive of pg_dump.*--database postgres:/],
    [
      'SQL of pg_dump',
      Buffer.from('CREATE TABLE users (id int);\nCOPY users (id) FROM stdin;\n1\n'),
      /dump of PostgreSQL/,
    ],
    ['a database of SQLite', Buffer.from('SQLite format 3\0'), /--database sqlite:FILE/],
    ['a page', Buffer.from('<!doctype html>'), /line 1 \(byte 0\) is no statement/],
    ['a text', Buffer.from('To whom it may concern'), /cut off: the statement at line 1/],
    ['other SQL', Buffer.from('SELECT 1;\n-- Dump completed\n'), /no dump of mysqldump.*creates no table/],
    ['a gzip of a text', gzipSync('<html>'), /is no statement/],
    [
      'another database',
      Buffer.from(`${header}CREATE TABLE wp_posts (id int);\n${footer}`),
      /no database with the tables users, nodes, servers/,
    ],
  ])('is refused: %s', async (_, bytes, reason) => {
    const path = join(folder, 'file')
    await writeFile(path, bytes)
    await expect(readDump(path, { kind: 'pterodactyl' })).rejects.toThrow(reason)
  })

  it.each([
    ['a file that is not there', 'none.sql', /none\.sql cannot be read: ENOENT/],
    ['a folder', '.', /cannot be read: EISDIR/],
  ])('is refused: %s', async (_, name, reason) => {
    await expect(readDump(join(folder, name), { kind: 'pterodactyl' })).rejects.toThrow(reason)
  })
})
