import {
  type ActivityScope,
  type AgeLimit,
  ageLimitOf,
  isInScope,
  isTooOld,
  tablesToRead,
} from './activity-scope.ts'
import { type ByteWindow, DumpError, openDump } from './dump-bytes.ts'
import { choosePanel, type DumpDatabase, DumpDatabases, requireData } from './dump-databases.ts'
import { DumpSettings } from './dump-settings.ts'
import { readStatements, type StatementReader } from './dump-statements.ts'
import { type InsertHead, parseCreateTable, parseInsertHead, parseLock, parseUse } from './dump-syntax.ts'
import { readTuple, skipSpaces, TupleError } from './dump-values.ts'
import type { SourceKind } from './source-schema.ts'
import { rowReader } from './store-rows.ts'
import type { SourceColumn } from './store-rows.ts'
import type { SourceRow, Spool } from './spool.ts'

/** What a dump is read with. */
export type DumpOptions = {
  kind: SourceKind
  /** The tables whose rows are read. Default: those that move. */
  tables?: readonly string[]
  /** Zone of the dates of a dump that does not state one. */
  zone?: string
  /** Which activity is read; none where it is left out. */
  activity?: ActivityScope
}

/**
 * Reads a dump of mysqldump or mariadb-dump, plain or gzip, in flat memory, and returns its rows. Throws a `DumpError`
 * with the place for a file that is no dump, is cut off or damaged, or lacks the rows of a table.
 */
export async function readDump(path: string, options: DumpOptions): Promise<Spool> {
  return readWindow(await openDump(path), path, options)
}

/** Reads a dump whose bytes a window has, and closes it. `path` is the name for messages. */
export async function readWindow(window: ByteWindow, path: string, options: DumpOptions): Promise<Spool> {
  const databases = new DumpDatabases()
  try {
    const reader = new DumpReader(window, databases, options)
    await reader.readAll()
    const panel = choosePanel(path, databases)
    requireData(panel)
    await databases.keepOnly(panel)
    panel.spool.notes.push(...reader.notes())
    return panel.spool
  } catch (error) {
    await databases.keepOnly(null)
    throw error
  } finally {
    window.close()
  }
}

const [comma, semicolon] = [0x2c, 0x3b]
const headBytes = [512, 64 * 1024]

class DumpReader {
  readonly #window: ByteWindow
  readonly #databases: DumpDatabases
  readonly #options: DumpOptions
  readonly #activity: ActivityScope
  readonly #statements: StatementReader
  readonly #settings: DumpSettings
  readonly #wanted: ReadonlySet<string>
  /** Whether the settings of the session were restored after the last rows: the end of a dump without comments. */
  #isRestored = false
  #lastTable = ''

  constructor(window: ByteWindow, databases: DumpDatabases, options: DumpOptions) {
    this.#window = window
    this.#databases = databases
    this.#options = options
    this.#activity = options.activity ?? null
    this.#statements = readStatements(window)
    this.#settings = new DumpSettings(options.zone)
    this.#wanted = new Set(options.tables ?? tablesToRead(this.#activity))
  }

  notes = () => this.#settings.notes()

  async readAll(): Promise<void> {
    while (await this.#statements.next()) await this.#readStatement()
    await this.#databases.flush()
    if (this.#databases.isEmpty())
      throw new DumpError('The file is no dump of mysqldump or mariadb-dump: it creates no table.')
    if (this.#statements.isComplete() || this.#isRestored) return
    const last = this.#lastTable === '' ? '' : `, in or after the table ${this.#lastTable}`
    throw new DumpError(
      `The dump is cut off at ${this.#window.place()}${last}: the line "-- Dump completed" is missing. Make it again, without --compact.`,
    )
  }

  async #readStatement(): Promise<void> {
    const start = await this.#statements.peek(32)
    const word = /^\w+/.exec(start)?.[0].toLowerCase()
    if (word === undefined || start.includes('\0'))
      throw new DumpError(`${this.#window.place()} is no statement of mysqldump or mariadb-dump.`)
    if (word === 'insert' || word === 'replace') return this.#readInsert()
    if (word === 'create' && /^create\s+table/i.test(start) && !this.#statements.isConditional())
      return this.#readCreateTable()
    if (word === 'copy')
      throw new DumpError(
        'This is a dump of PostgreSQL: give the database itself, with --database postgres://…',
      )
    if (word === 'set') return this.#readSettings()
    if (word === 'use') return this.#databases.use(parseUse(await this.#statements.take()))
    if (word === 'lock') return this.#databases.markData(parseLock(await this.#statements.take()))
    return this.#statements.passOver()
  }

  async #readSettings(): Promise<void> {
    const place = this.#window.place()
    const text = await this.#statements.take()
    this.#settings.read(text, place)
    this.#statements.setBackslash(this.#settings.hasBackslash)
    if (/=\s*(?:ifnull\()?@OLD_/i.test(text)) this.#isRestored = true
  }

  async #readCreateTable(): Promise<void> {
    const place = this.#window.place()
    const created = parseCreateTable(await this.#statements.take())
    if (!created || created.columns.length === 0)
      throw new DumpError(`${place}: a CREATE TABLE without columns.`)
    this.#isRestored = false
    this.#lastTable = created.table
    await this.#databases.create(created, place)
  }

  async #readInsert(): Promise<void> {
    const window = this.#window
    const place = window.place()
    const head = await this.#readHead(place)
    const database = this.#databases.of(head)
    this.#lastTable = head.table
    this.#isRestored = false
    if (!this.#wanted.has(head.table) || database.isSystem) {
      database.withData.add(head.table)
      return this.#statements.passOver()
    }
    const columns = this.#columnsOf(database, head, place)
    const toRow = this.#rowsOf(database, head.table, columns, place)
    const limit = ageLimitOf(this.#activity, head.table, columns)
    window.position += head.length
    // There can be a hundred million rows: nothing is awaited that is there.
    do {
      if (limit && this.#passOld(limit)) continue
      const row = toRow(this.#tuple(head.table) ?? (await this.#wholeTuple(head.table)))
      if (!isInScope(this.#activity, head.table, row)) continue
      const added = database.add(head.table, row)
      if (added) await added
    } while (this.#isFollowed(head.table) ?? (await this.#hasMore(head.table)))
  }

  async #readHead(place: string): Promise<InsertHead> {
    for (const length of headBytes) {
      const head = parseInsertHead(await this.#statements.peek(length))
      if (head) return head
    }
    throw new DumpError(`${place}: an INSERT that names no table and rows, or is cut off.`)
  }

  #columnsOf(database: DumpDatabase, head: InsertHead, place: string): SourceColumn[] {
    const created = database.columns.get(head.table)
    if (!created)
      throw new DumpError(`${place}: rows of ${head.table}, whose CREATE TABLE is not in the file.`)
    return (head.columns ?? created.map(({ name }) => name)).map((name) => {
      const column = created.find((candidate) => candidate.name === name)
      if (!column) throw new DumpError(`${place}: ${head.table} has no column ${name}.`)
      return column
    })
  }

  #rowsOf(
    database: DumpDatabase,
    table: string,
    columns: SourceColumn[],
    place: string,
  ): (values: Values) => SourceRow {
    const zone = this.#settings.requireZone(columns, table, place)
    const toRow = rowReader(database.spool, { kind: this.#options.kind, zone }, table, columns)
    return (values) => {
      if (values.length === columns.length) return toRow(values)
      throw new DumpError(
        `${this.#window.place()}: a row of ${table} has ${values.length} values for ${columns.length} columns.`,
      )
    }
  }

  /** Moves behind a row that is too old, and reads nothing else of it. */
  #passOld(limit: AgeLimit): boolean {
    const window = this.#window
    try {
      const tuple = readTuple(window.bytes, window.position, this.#settings, limit.at)
      if (!tuple || !isTooOld(tuple.values[limit.at], limit)) return false
      window.position = tuple.end
      return true
    } catch (error) {
      // Who reads it whole finds it, too, and says where.
      if (error instanceof TupleError) return false
      throw error
    }
  }

  /** Reads a row; null where its end is not in the window yet. */
  #tuple(table: string): Values | null {
    const window = this.#window
    try {
      const tuple = readTuple(window.bytes, window.position, this.#settings)
      if (tuple) window.position = tuple.end
      return tuple?.values ?? null
    } catch (error) {
      if (!(error instanceof TupleError)) throw error
      window.position = error.at
      throw new DumpError(`${window.place()}, in a row of ${table}: ${error.message}.`)
    }
  }

  async #wholeTuple(table: string): Promise<Values> {
    for (;;) {
      if (!(await this.#window.fill())) this.#throwCutOff(table)
      const values = this.#tuple(table)
      if (values) return values
    }
  }

  #throwCutOff(table: string): never {
    throw new DumpError(
      `The dump is cut off at ${this.#window.place()}, in the rows of ${table}. Make it again.`,
    )
  }

  /** Moves behind the comma before another row, or behind the end of the statement. */
  async #hasMore(table: string): Promise<boolean> {
    for (;;) {
      if (!(await this.#window.fill())) this.#throwCutOff(table)
      const isFollowed = this.#isFollowed(table)
      if (isFollowed !== null) return isFollowed
    }
  }

  /** Does the same; null where the next byte is not in the window yet. */
  #isFollowed(table: string): boolean | null {
    const window = this.#window
    window.position = skipSpaces(window.bytes, window.position)
    const next = window.bytes[window.position]
    if (next === undefined) return null
    if (next !== comma && next !== semicolon)
      throw new DumpError(
        `${window.place()}, after a row of ${table}: expected a comma or the end of the statement.`,
      )
    window.position += 1
    return next === comma
  }
}

type Values = (string | number | null)[]
