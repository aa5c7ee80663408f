import type { ClientConfig } from 'pg'
import { plannedForValues } from '../db/database.ts'
import {
  type ClientPool,
  closeClientPool,
  dropConnection,
  giveBackConnection,
  openClientPool,
  type PooledConnection,
  type PoolOptions,
  type PoolState,
  type Slot,
  takeConnection,
  withTimeout,
} from './client-pool.ts'
import { type NamedStatement, type PoolStatement, runPrepared, textValues } from './prepared-query.ts'
import { type GatheredStatement, openPipeline } from './statement-pipeline.ts'

/** A pool as drizzle uses one: statements on any connection, and connections for transactions. */
export type StatementPool = {
  query: (statement: PoolStatement | string, values?: unknown[]) => Promise<{ rows: unknown[] }>
  connect: () => Promise<PooledConnection>
  on: (event: 'connect' | 'error', listener: (client: PooledConnection) => void) => void
  end: () => Promise<void>
  state: () => PoolState
}

/** Opens a pool whose statements are prepared once per connection, by name. */
export function openStatementPool(config: ClientConfig, options: PoolOptions): StatementPool {
  const pool = openClientPool(config, options)
  const pipeline = openPipeline(pool, {
    deadline: () => deadlineOf(pool),
    runAlone: (slot, gathered) => runNamed(pool, slot, gathered),
    isLost,
    drop: (slot) => dropConnection(pool, slot),
  })
  return {
    query: (statement, values) =>
      new Promise((resolve, reject) =>
        runStatement({ pool, pipeline }, statement, values, { resolve, reject }),
      ),
    connect: () => new Promise((resolve, reject) => lendConnection(pool, { resolve, reject })),
    on: (event, listener) => {
      if (event === 'connect') pool.connectListeners.push(listener)
    },
    end: () => closeClientPool(pool),
    state: () => ({
      open: pool.slots.size,
      idle: pool.idle.length,
      limit: options.size,
      waiting: pool.waiting.length,
    }),
  }
}

type Settle<Result> = { resolve: (result: Result) => void; reject: (error: Error) => void }
type Answer = Settle<{ rows: unknown[] }>

const deadlineOf = ({ options }: ClientPool) => Date.now() + options.timeoutMs

function lendConnection(pool: ClientPool, { resolve, reject }: Settle<PooledConnection>): void {
  const take = (slot: Slot) => {
    slot.client.release = (destroy) => (destroy ? dropConnection(pool, slot) : giveBackConnection(pool, slot))
    resolve(slot.client)
  }
  takeConnection(pool, { deadline: deadlineOf(pool), fail: reject, take })
}

function runStatement(
  { pool, pipeline }: { pool: ClientPool; pipeline: ReturnType<typeof openPipeline> },
  statement: PoolStatement | string,
  values: unknown[] | undefined,
  answer: Answer,
): void {
  const named = typeof statement === 'string' ? null : nameStatement(statement)
  const texts = named && (statement as PoolStatement).rowMode === 'array' ? textValues(values) : null
  if (named?.isPipelined && !named.isLarge && texts)
    return pipeline({ statement: named, values: texts, answer })
  const take =
    named && texts
      ? (slot: Slot) => runNamed(pool, slot, { statement: named, values: texts, answer })
      : (slot: Slot) => runByDriver(pool, slot, withName(statement, named), values, answer)
  takeConnection(pool, { deadline: deadlineOf(pool), fail: answer.reject, take })
}

function runNamed(pool: ClientPool, slot: Slot, { statement, values, answer }: GatheredStatement): void {
  slot.deadline = deadlineOf(pool)
  slot.fail = answer.reject
  runPrepared(slot.send, statement, values, (error, rows) => {
    slot.deadline = Infinity
    slot.fail = null
    // First, so that the connection is not idle while the answer is read.
    finish(pool, slot, error)
    if (error) answer.reject(error)
    else answer.resolve({ rows })
  })
}

function runByDriver(
  pool: ClientPool,
  slot: Slot,
  statement: PoolStatement | string,
  values: unknown[] | undefined,
  answer: Answer,
): void {
  slot.send(withTimeout(statement, pool.options.timeoutMs), values as never).then(
    (result) => {
      giveBackConnection(pool, slot)
      answer.resolve(result as never)
    },
    (error: Error) => {
      finish(pool, slot, error)
      answer.reject(error)
    },
  )
}

/** Gives the connection back after a statement, unless the error says that it is lost. */
const finish = (pool: ClientPool, slot: Slot, error: unknown) =>
  isLost(error) ? dropConnection(pool, slot) : giveBackConnection(pool, slot)

/** Whether an error is of the connection: without an SQLSTATE of the database, or one that says that it ends. */
const isLost = (error: unknown): boolean =>
  error !== null && !/^(?!08|57P)[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code ?? ''))

/** Named statements, by their text. The prefix is different in each process: they may share a pooler. */
const namedStatements = new Map<string, NamedStatement>()
const namePrefix = crypto.randomUUID().slice(0, 8)
/** Connections keep what they prepared, and lists of any length make any number of texts. */
const maxNamedStatements = 2000

/**
 * Names a statement outside transactions, so that it is planned once per connection; null where there are too many, or
 * where one plan is not good for all values.
 */
function nameStatement({ text, types, name: ownName }: PoolStatement): NamedStatement | null {
  if (text.includes(plannedForValues)) return null
  const known = namedStatements.get(text)
  if (known || !types || namedStatements.size >= maxNamedStatements) return known ?? null
  // What the code has prepared under a name of its own is of fixed text and reads by indexes.
  const isPipelined = Boolean(ownName) && !writesOrLocks.test(text)
  const name = `${namePrefix}-${namedStatements.size}`
  const statement: NamedStatement = { name, text, types, parsers: [], isPipelined, isLarge: false }
  namedStatements.set(text, statement)
  return statement
}

/** Whether a statement may write, or wait for what another one has locked. */
const writesOrLocks =
  /\b(?:insert\s+into|update|delete\s+from|merge\s+into|for\s+(?:no\s+key\s+update|(?:key\s+)?share)|pg_advisory\w+|pg_sleep\w*|nextval|setval)\b/i

const withName = (statement: PoolStatement | string, named: NamedStatement | null) =>
  named && typeof statement === 'object' ? { ...statement, name: named.name } : statement
