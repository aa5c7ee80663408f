import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { scopeOf } from '../../src/cli/move-in/activity-scope.ts'
import { ByteWindow } from '../../src/cli/move-in/dump-bytes.ts'
import { readWindow } from '../../src/cli/move-in/read-dump.ts'

const now = new Date('2026-08-01T12:00:00Z')
const head = `/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE users (id int);
CREATE TABLE nodes (id int);
CREATE TABLE servers (id int);
CREATE TABLE activity_logs (id bigint, event varchar(191), properties json, timestamp timestamp);
INSERT INTO users VALUES (1);
`
const old = '2020-01-01 00:00:00'

/** Texts in which the end of a row could be mistaken. */
const texts = [
  ``,
  `{}`,
  String.raw`it\'s`,
  `it''s`,
  String.raw`\\`,
  String.raw`\\\'`,
  String.raw`a\\''b`,
  `'',''2026-07-31 00:00:00''`,
  String.raw`\'),(9,\'x\',\'{}\',\'2026-07-31 00:00:00\'),(`,
  `"),("`,
  `;\n-- `,
  `ä🎲''`,
]

/** Reads a dump in chunks of a size, and returns the ids of the entries. */
async function idsOf(text: string, size: number, settings = ''): Promise<number[]> {
  const bytes = Buffer.from(`${settings}${head}${text}\n-- Dump completed on 2026-08-01\n`)
  function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const activity = scopeOf('90d', 90, now)
  const window = new ByteWindow(Readable.from(chunks()))
  const spool = await readWindow(window, 'panel.sql', { kind: 'pterodactyl', activity })
  const rows = spool.ranges.numbers('activity_logs').map((at) => spool.ranges.read('activity_logs', at))
  const ids = (await Promise.all(rows)).flat().map(({ id }) => Number(id))
  await spool.remove()
  return ids
}

const statement = (rows: string[]) => `INSERT INTO activity_logs VALUES\n${rows.join(',\n')};`

describe('entries of a dump that are too old to move', () => {
  it.each([1, 2, 3, 7, 64, 1 << 20])(
    'are passed over, whatever is in them, in chunks of %d bytes',
    async (size) => {
      const rows = texts.flatMap((text, at) => [
        `(${at + 1},'a:${text}','${text}','${old}')`,
        `(${at + 101},'a','${text}','2026-07-31 00:00:00')`,
      ])
      expect(await idsOf(statement(rows), size)).toEqual(texts.map((_, at) => at + 101))
    },
  )

  it.each([1, 5, 1 << 20])(
    'end where backslashes escape nothing, too, in chunks of %d bytes',
    async (size) => {
      const mode = "/*!40101 SET SQL_MODE='NO_BACKSLASH_ESCAPES' */;\n"
      const rows = [
        `(1,'a','\\','${old}')`,
        `(2,'a','''\\','2026-07-31 00:00:00')`,
        `(3,'\\''','x','${old}')`,
      ]
      expect(await idsOf(statement(rows), size, mode)).toEqual([2])
    },
  )

  it('are those of the scope exactly: to the second, of another order, without a time, with named columns', async () => {
    const rows = statement([
      `(1,'a','{}','2026-05-03 11:59:59')`,
      `(2,'a','{}','2026-05-03 12:00:00')`,
      `(3,'a','{}','0000-00-00 00:00:00')`,
      `(4,'a','{}',NULL)`,
      `(5,'a','{}','1999-12-31 23:59:59')`,
    ])
    const named = `INSERT INTO activity_logs (timestamp, id) VALUES ('${old}',6), ('2026-07-01 00:00:00', 7);`
    expect(await idsOf(rows + named, 1 << 20)).toEqual([2, 3, 4, 7])
  })

  it('are refused where they are no rows', async () => {
    await expect(idsOf(statement([`(1,'a','{}','${old}'`]), 64)).rejects.toThrow(/in a row of activity_logs/)
    await expect(idsOf(`INSERT INTO activity_logs VALUES (1,'a','{}','${old}') (2`, 64)).rejects.toThrow(
      /expected a comma or the end of the statement/,
    )
  })
})
