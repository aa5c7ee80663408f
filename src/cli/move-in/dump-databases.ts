import { DumpError } from './dump-bytes.ts'
import type { CreatedTable, TableName } from './dump-syntax.ts'
import { movedTables } from './source-schema.ts'
import { openSpool, type SourceRow, type Spool } from './spool.ts'
import type { SourceColumn } from './store-rows.ts'

const systemDatabases = new Set(['mysql', 'sys', 'information_schema', 'performance_schema'])
const batchRows = 200

/** A database of a dump. */
export class DumpDatabase {
  readonly name: string
  readonly spool: Spool
  readonly isSystem: boolean
  readonly columns = new Map<string, SourceColumn[]>()
  /** Tables whose rows, or the place of them, are in the file. */
  readonly withData = new Set<string>()
  /** Whether the file marks the place of each table's rows. */
  hasMarks = false
  #table = ''
  #rows: SourceRow[] = []

  constructor(name: string, spool: Spool) {
    this.name = name
    this.spool = spool
    this.isSystem = systemDatabases.has(name.toLowerCase())
  }

  /** Adds a row, in batches. */
  add(table: string, row: SourceRow): Promise<void> | undefined {
    if (table === this.#table && this.#rows.length < batchRows) return void this.#rows.push(row)
    const flushed = this.flush()
    this.#table = table
    this.#rows = [row]
    this.withData.add(table)
    return flushed
  }

  /** Writes the rows that were added last. */
  async flush(): Promise<void> {
    const [table, rows] = [this.#table, this.#rows]
    this.#rows = []
    if (rows.length > 0) await this.spool.add(table, rows)
  }
}

/** The databases of a dump: mostly one, without a name. */
export class DumpDatabases {
  readonly #byName = new Map<string, DumpDatabase>()
  #current = ''

  use(name: string | null): void {
    this.#current = name ?? this.#current
  }

  /** Returns the database of a table. Throws for one of which nothing was created yet. */
  of({ database: name = this.#current, table }: TableName): DumpDatabase {
    const database = this.#byName.get(name)
    if (!database) throw new DumpError(`The file has rows of ${table}, whose CREATE TABLE is not in it.`)
    return database
  }

  /** Adds a table. Refuses one that is there already: two dumps in one file. */
  async create(
    { database: name = this.#current, table, columns }: CreatedTable,
    place: string,
  ): Promise<void> {
    const database = this.#byName.get(name) ?? new DumpDatabase(name, await openSpool())
    this.#byName.set(name, database)
    if (database.columns.has(table))
      throw new DumpError(
        `${place}: a second CREATE TABLE of ${table}. The file holds two dumps: give one of them.`,
      )
    database.columns.set(table, columns)
    database.spool.columns.set(
      table,
      columns.map((column) => column.name),
    )
  }

  /** Notes that the rows of a table follow, though there may be none. */
  markData(name: TableName | null): void {
    if (!name) return
    const database = this.of(name)
    database.hasMarks = true
    database.withData.add(name.table)
  }

  isEmpty(): boolean {
    return this.#byName.size === 0
  }

  all(): DumpDatabase[] {
    return [...this.#byName.values()]
  }

  async flush(): Promise<void> {
    for (const database of this.all()) await database.flush()
  }

  /** Deletes the rows of all databases but one. */
  async keepOnly(kept: DumpDatabase | null): Promise<void> {
    await Promise.all(
      this.all().map(async (database) => {
        if (database !== kept) await database.spool.remove()
      }),
    )
  }
}

const tablesOfPanel = ['users', 'nodes', 'servers']

/** Returns the database that has the tables of a panel. Throws with their names where several have them. */
export function choosePanel(path: string, databases: DumpDatabases): DumpDatabase {
  const candidates = databases
    .all()
    .filter(({ columns }) => tablesOfPanel.every((table) => columns.has(table)))
  const [first, ...others] = candidates
  const names = (list: DumpDatabase[]) => list.map(({ name }) => name || '(without a name)').join(', ')
  if (!first)
    throw new DumpError(
      `${path} has no database with the tables ${tablesOfPanel.join(', ')}. It has: ${names(databases.all())}.`,
    )
  if (others.length > 0)
    throw new DumpError(
      `${path} has several panels: ${names(candidates)}. Make a dump of one: mysqldump ${first.name}`,
    )
  return first
}

/** Throws where the rows of a table are not in the file, as with `--no-data`. */
export function requireData({ columns, withData, hasMarks }: DumpDatabase): void {
  const created = movedTables.filter((table) => columns.has(table))
  const without = created.filter((table) => !withData.has(table) && (hasMarks || table === 'users'))
  if (without.length > 0)
    throw new DumpError(
      `The dump lacks the rows of ${without.join(', ')}. Make it again without --no-data and --ignore-table.`,
    )
}
