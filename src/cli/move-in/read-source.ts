import { type ActivityScope, tablesToRead } from './activity-scope.ts'
import { isZone } from './source-zone.ts'
import { kindOfSchema, type SourceKind } from './source-schema.ts'
import { openSpool, type Spool } from './spool.ts'
import type { Storing } from './store-rows.ts'

/** Where the old panel's rows are: the address of a database, or a dump. */
export type Source = {
  kind: SourceKind
  database?: string | undefined
  dump?: string | undefined
  /** Zone of the dates of a dump that does not state one. */
  dumpTimezone?: string | undefined
  /** Zone of the old panel, in which PostgreSQL and SQLite hold its dates. */
  timezone: string
  /** Which activity is read; none where it is left out. */
  activity?: ActivityScope
}

type LiveReader = (address: string, spool: Spool, storing: Storing) => Promise<void>

/** Readers of live databases by the start of their address; of MySQL dates are read in UTC. */
const readers: [pattern: RegExp, read: LiveReader][] = [
  [
    /^(?:mysql|mariadb):\/\//,
    async (address, spool, storing) =>
      (await import('./read-mysql.ts')).readMysql(address.replace(/^mariadb:/, 'mysql:'), spool, {
        ...storing,
        zone: 'UTC',
      }),
  ],
  [/^postgres(?:ql)?:\/\//, async (...input) => (await import('./read-postgres.ts')).readPostgres(...input)],
  [/^sqlite:/, async (...input) => (await import('./read-sqlite.ts')).readSqlite(...input)],
]

/** Whether an address is that of a database that can be read: Pterodactyl has MySQL and MariaDB only. */
export const isSourceAddress = (kind: SourceKind, address: string): boolean =>
  readers.slice(0, kind === 'pelican' ? readers.length : 1).some(([pattern]) => pattern.test(address))

/** Reads the old panel into files of this machine, without a change there. Throws with the cause for the operator. */
export const readSource = (source: Source): Promise<Spool> =>
  readTables(source, tablesToRead(source.activity ?? null))

/** Tells from the schema alone which panel it is. Throws as `readSource` does, and for a schema of neither. */
export async function findKind(source: Omit<Source, 'kind'>): Promise<SourceKind> {
  const spool = await readTables({ ...source, kind: 'pelican' }, [])
  await spool.remove()
  const kind = kindOfSchema(spool)
  if (!kind) throw new Error('It has no table servers: it is neither a Pterodactyl nor a Pelican.')
  return kind
}

async function readTables(source: Source, tables: readonly string[]): Promise<Spool> {
  const { kind, dump, dumpTimezone: zone, timezone, activity = null } = source
  if (zone !== undefined && !isZone(zone))
    throw new Error(`${zone} is no time zone: give +02:00 or Europe/Berlin.`)
  if (dump !== undefined) {
    const { readDump } = await import('./read-dump.ts')
    return readDump(dump, { kind, tables, activity, ...(zone !== undefined && { zone }) })
  }
  const address = source.database ?? ''
  const read = readers.find(([pattern]) => pattern.test(address))?.[1]
  if (!read) throw new Error('The address of the database is not one that can be read.')
  const spool = await openSpool()
  try {
    await read(address, spool, { kind, tables, zone: timezone, activity })
    return spool
  } catch (error) {
    await spool.remove()
    throw error
  }
}
