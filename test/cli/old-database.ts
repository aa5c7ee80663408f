import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import mysql from 'mysql2/promise'
import { scopeOf } from '../../src/cli/move-in/activity-scope.ts'
import { readSource } from '../../src/cli/move-in/read-source.ts'
import { versionOf } from '../../src/cli/move-in/source-schema.ts'
import type { SourceRow } from '../../src/cli/move-in/spool.ts'
import { mysqlAdmin } from '../support/mysql.ts'
import { type OldPanel, rowsOf } from './old-panel.ts'
import { mariadbSchema, type OldVersion, tablesOf } from './old-schema.ts'

const run = promisify(execFile)
const maxDumpBytes = 64 * 1024 * 1024

export type OldDatabase = OldPanel & {
  name: string
  insert: (table: string, row: Record<string, string | number | null>) => Promise<unknown>
  /** Dumps the database with the real mariadb-dump, as bytes. */
  dump: (...options: string[]) => Promise<Buffer>
}

/** The rows of a version: those that its tables take, in their columns. */
export function rowsOfVersion(version: OldVersion) {
  const tables = new Map(
    tablesOf(version).map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]),
  )
  return rowsOf(version === 'pelican' ? 'pelican' : 'pterodactyl').flatMap(([table, rows]) => {
    const columns = tables.get(table)
    if (!columns) return []
    const kept = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => columns.has(name))),
    )
    return [[table, kept] as const]
  })
}

/** Creates the whole schema of a version in MariaDB, with its keys and references, and a few rows. */
export async function createOldDatabase(version: OldVersion): Promise<OldDatabase> {
  const name = `roost_test_old_${randomBytes(6).toString('hex')}`
  const { host, port, username, password } = mysqlAdmin
  const connection = await mysql.createConnection({
    host,
    port,
    user: username,
    password,
    charset: 'utf8mb4',
  })
  await connection.query(`create database ${name} character set utf8mb4 collate utf8mb4_unicode_ci`)
  await connection.query(`use ${name}`)
  // The old panel runs non-strict, and its databases have orphans.
  await connection.query("set time_zone = '+00:00', sql_mode = '', foreign_key_checks = 0")
  for (const statement of mariadbSchema(version)) await connection.query(statement)
  for (const [table, rows] of rowsOfVersion(version))
    for (const row of rows) await connection.query(`insert ignore into \`${table}\` set ?`, [row])
  const login = [username, password].map(encodeURIComponent).filter(Boolean).join(':')
  const connected = ['-h', host, '-P', String(port), '-u', username, ...(password ? [`-p${password}`] : [])]
  return {
    name,
    url: `mysql://${login}@${host}:${port}/${name}`,
    query: (statement) => connection.query(statement),
    insert: (table, row) => connection.query('insert into ?? set ?', [table, row]),
    dump: async (...options) => {
      const words = [...connected, ...options, ...(options.includes('--databases') ? [] : [name])]
      const { stdout } = await run('mariadb-dump', words, { encoding: 'buffer', maxBuffer: maxDumpBytes })
      return stdout
    },
    drop: async () => {
      await connection.query(`drop database ${name}`)
      await connection.end()
    },
  }
}

/** Reads a source as the command does, and returns the rows by table. */
export async function rowsOfDatabase(version: OldVersion, source: { database: string } | { dump: string }) {
  const kind = version === 'pelican' ? 'pelican' : 'pterodactyl'
  const activity = scopeOf('all', 90, new Date())
  const spool = await readSource({ kind, timezone: 'UTC', activity, ...source })
  try {
    const tables = await Promise.all(
      [...spool.columns.keys()].map(async (table) => {
        const rows: SourceRow[] = []
        for await (const batch of spool.batches(table)) rows.push(...batch)
        for (const number of spool.ranges.numbers(table))
          rows.push(...(await spool.ranges.read(table, number)))
        return [table, rows] as const
      }),
    )
    return {
      rows: Object.fromEntries(tables),
      version: versionOf(kind, spool),
      notes: spool.notes,
    }
  } finally {
    await spool.remove()
  }
}
