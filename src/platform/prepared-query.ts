import type { Client, CustomTypesConfig, QueryConfig } from 'pg'

/** A statement with the name under which connections prepare it, and what turns its columns into values. */
export type NamedStatement = {
  name: string
  text: string
  types: CustomTypesConfig
  parsers: Parser[]
  /** Whether it may be sent with others before any of them is answered. */
  isPipelined: boolean
  /** Whether its last row was so large that reading it takes the database longer than being woken for it. */
  isLarge: boolean
}

/** Characters from which a row is large. */
const largeRow = 8192
type Parser = (cell: string) => unknown

/** The cells of a row; null for nulls. */
type DataRow = { fields: (string | null)[] }
type RowDescription = { fields: { dataTypeID: number }[] }

/** What the driver has to send to the database on one connection. */
type Connection = {
  stream: { cork: () => void; uncork: () => void; write: (bytes: Buffer) => unknown }
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  parse: (message: { name: string; text: string; types: number[] }) => void
  describe: (message: { type: 'S'; name: string }) => void
}

type Done = (error: Error | null, rows: unknown[][]) => void

/** A query as the driver expects one that is not its own. */
type PreparedQuery = {
  name: string
  text: string
  statement: NamedStatement
  values: (string | null)[]
  rows: unknown[][]
  callback: Done
}

/**
 * Runs a named statement, whose rows are arrays. The driver's own query describes the columns anew each time and sends
 * four messages; this one describes them once and sends one. `done` is called once.
 */
export function runPrepared(
  send: Client['query'],
  statement: NamedStatement,
  values: (string | null)[],
  done: Done,
): void {
  const { name, text } = statement
  const query: PreparedQuery = { name, text, statement, values, rows: [], callback: done, ...handlers }
  send(query as never)
}

const ignore = () => undefined

/** What the driver calls for messages that no named statement is answered with. */
const unexpectedMessages = {
  handleEmptyQuery: ignore,
  handlePortalSuspended: ignore,
  handleCopyInResponse: ignore,
  handleCopyData: ignore,
}

/** What the driver calls as the answer arrives. */
const handlers = {
  submit(this: PreparedQuery, connection: Connection): null {
    const { name, text } = this
    const bytes = bindMessage(name, this.values, executeAndSync)
    if (name in connection.parsedStatements || name in connection.submittedNamedStatements) {
      connection.stream.write(bytes)
      return null
    }
    connection.stream.cork()
    connection.parse({ name, text, types: [] })
    connection.describe({ type: 'S', name })
    connection.submittedNamedStatements[name] = text
    connection.stream.write(bytes)
    connection.stream.uncork()
    return null
  },
  handleRowDescription(this: PreparedQuery, { fields }: RowDescription) {
    const { statement } = this
    statement.parsers = fields.map(({ dataTypeID }) => statement.types.getTypeParser(dataTypeID, 'text'))
  },
  handleDataRow(this: PreparedQuery, row: DataRow) {
    this.rows.push(parseRow(this.statement, row))
  },
  handleReadyForQuery(this: PreparedQuery) {
    finish(this, null)
  },
  handleError(this: PreparedQuery, error: Error) {
    finish(this, error)
  },
  handleCommandComplete: ignore,
  ...unexpectedMessages,
}

/** Turns the cells of a row into values, in their place. */
function parseRow(statement: NamedStatement, { fields }: DataRow): unknown[] {
  const { parsers } = statement
  const row: unknown[] = fields
  let characters = 0
  for (let at = 0; at < fields.length; at += 1) {
    const cell = fields[at]
    if (cell === null || cell === undefined) continue
    characters += cell.length
    row[at] = parsers[at]?.(cell)
  }
  statement.isLarge = characters > largeRow
  return row
}

function finish(query: PreparedQuery, error: Error | null): void {
  const { callback, rows } = query
  query.callback = ignore
  callback(error, rows)
}

/** A statement of a pipeline, and what takes its rows. */
export type PipelinedStatement = {
  statement: NamedStatement
  values: (string | null)[]
  answer: { resolve: (result: { rows: unknown[] }) => void }
}

/** A query as the driver expects one: the statements that are not answered yet, and the rows of the first of them. */
type PipelineQuery = {
  unanswered: PipelinedStatement[]
  rows: unknown[][]
  callback: (error: Error | null) => void
}

/**
 * Sends several statements, which the connection has prepared, as one write with one Sync, so that the database answers
 * them at once as well. It runs none after one that failed. They share a transaction: none may write or lock.
 *
 * Takes those that are answered out of `unanswered`: V8 keeps what an old object once led to until it collects all
 * garbage, and a statement leads to its rows. `done` is called once, with the error of the first one that is left.
 */
export function runPipeline(
  send: Client['query'],
  unanswered: PipelinedStatement[],
  done: (error: Error | null) => void,
): void {
  const query: PipelineQuery = { unanswered, rows: [], callback: done, ...pipelineHandlers }
  send(query as never)
}

const pipelineHandlers = {
  submit(this: PipelineQuery, { stream }: Connection): null {
    const binds = this.unanswered.map(({ statement, values }) => bindMessage(statement.name, values, execute))
    stream.write(Buffer.concat([...binds, sync]))
    return null
  },
  handleDataRow(this: PipelineQuery, row: DataRow) {
    const [current] = this.unanswered
    if (current) this.rows.push(parseRow(current.statement, row))
  },
  handleCommandComplete(this: PipelineQuery) {
    const { rows } = this
    this.rows = []
    this.unanswered.shift()?.answer.resolve({ rows })
  },
  handleReadyForQuery(this: PipelineQuery) {
    finishPipeline(this, null)
  },
  handleError(this: PipelineQuery, error: Error) {
    finishPipeline(this, error)
  },
  ...unexpectedMessages,
}

function finishPipeline(query: PipelineQuery, error: Error | null): void {
  const { callback } = query
  query.callback = ignore
  callback(error)
}

/** Whether the connection has prepared the statement, so that it needs no description. */
export const isPreparedOn = (client: Client, { name }: NamedStatement): boolean =>
  name in (client as unknown as { connection: Connection }).connection.parsedStatements

/** Returns values as the protocol sends them; null when one of them needs the driver's own conversion. */
export function textValues(values: readonly unknown[] | undefined): (string | null)[] | null {
  if (values === undefined) return []
  const texts: (string | null)[] = []
  for (const value of values) {
    if (value === null || value === undefined) texts.push(null)
    else if (typeof value === 'object') return null
    else texts.push(typeof value === 'string' ? value : String(value as number | boolean | bigint))
  }
  return texts
}

/** The message Execute without a limit. */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0])
const sync = Buffer.from([0x53, 0, 0, 0, 4])
const executeAndSync = Buffer.concat([execute, sync])

/** Writes the message Bind, with all values and columns as text and the portal without a name, and `next` behind it. */
function bindMessage(name: string, values: (string | null)[], next: Buffer): Buffer {
  let length = 4 + 1 + Buffer.byteLength(name) + 1 + 2 + 2 + 2
  const lengths: number[] = []
  for (const value of values) {
    const bytes = value === null ? 0 : Buffer.byteLength(value)
    lengths.push(bytes)
    length += 4 + bytes
  }
  const buffer = Buffer.allocUnsafe(1 + length + next.length)
  buffer[0] = 0x42
  let at = buffer.writeInt32BE(length, 1)
  buffer[at] = 0
  at += 1
  at += buffer.write(name, at)
  buffer[at] = 0
  at = buffer.writeInt16BE(0, at + 1)
  at = buffer.writeInt16BE(values.length, at)
  for (let n = 0; n < values.length; n += 1) {
    const value = values[n] ?? null
    at = buffer.writeInt32BE(value === null ? -1 : (lengths[n] ?? 0), at)
    if (value !== null) at += buffer.write(value, at)
  }
  at = buffer.writeInt16BE(0, at)
  next.copy(buffer, at)
  return buffer
}

/** A statement as drizzle gives it to a pool. */
export type PoolStatement = QueryConfig & { rowMode?: string }
