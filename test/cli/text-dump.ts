import mysql from 'mysql2'
import { rowsOfVersion } from './old-database.ts'
import { mariadbSchema, type OldVersion, tablesOf } from './old-schema.ts'

type Cell = string | number | null | undefined

/** Writes the dump of an old panel as `mariadb-dump` does, without a database. */
export function textDump(version: OldVersion): string {
  const rows = new Map(rowsOfVersion(version))
  const data = tablesOf(version).flatMap(({ name, columns }) => [
    `LOCK TABLES \`${name}\` WRITE;`,
    ...(rows.get(name) ?? []).map((row: Record<string, Cell>, at) => {
      const values = columns.map((column) => row[column.name] ?? defaultOf(column, at + 1))
      return `INSERT INTO \`${name}\` VALUES (${values.map((value) => mysql.escape(value)).join(',')});`
    }),
    'UNLOCK TABLES;',
  ])
  return [
    '/*!40101 SET NAMES utf8mb4 */;',
    "/*!40103 SET TIME_ZONE='+00:00' */;",
    ...mariadbSchema(version).map((statement) => `${statement.replace(/;\s*$/, '')};`),
    ...data,
    '-- Dump completed on 2026-01-01',
    '',
  ].join('\n')
}

type Column = ReturnType<typeof tablesOf>[number]['columns'][number]

/** Returns what a column has that a row leaves out, as in a database that is not strict. */
function defaultOf({ name, type, isNullable, preset }: Column, number: number): Cell {
  if (name === 'id') return number
  if (preset !== undefined) return preset.replace(/^'(.*)'$/, '$1')
  if (isNullable) return null
  return /^(?:u\d|i\d|bool|int)/.test(type) ? 0 : ''
}
