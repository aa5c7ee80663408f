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
  return {
    query: (statement, values) =>
      new Promise((resolve, reject) => runStatement(pool, statement, values, { resolve, reject })),
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
  pool: ClientPool,
  statement: PoolStatement | string,
  values: unknown[] | undefined,
  answer: Answer,
): void {
  const named = typeof statement === 'string' ? null : nameStatement(statement)
  const texts = named && (statement as PoolStatement).rowMode === 'array' ? textValues(values) : null
  const take =
    named && texts
      ? (slot: Slot) => runNamed(pool, slot, { named, texts, answer })
      : (slot: Slot) => runByDriver(pool, slot, withName(statement, named), values, answer)
  takeConnection(pool, { deadline: deadlineOf(pool), fail: answer.reject, take })
}

function runNamed(
  pool: ClientPool,
  slot: Slot,
  { named, texts, answer }: { named: NamedStatement; texts: (string | null)[]; answer: Answer },
): void {
  slot.deadline = deadlineOf(pool)
  slot.fail = answer.reject
  runPrepared(slot.send, named, texts, (error, rows) => {
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
function nameStatement({ text, types }: PoolStatement): NamedStatement | null {
  if (text.includes(plannedForValues)) return null
  const known = namedStatements.get(text)
  if (known || !types || namedStatements.size >= maxNamedStatements) return known ?? null
  const statement = { name: `${namePrefix}-${namedStatements.size}`, text, types, parsers: [] }
  namedStatements.set(text, statement)
  return statement
}

const withName = (statement: PoolStatement | string, named: NamedStatement | null) =>
  named && typeof statement === 'object' ? { ...statement, name: named.name } : statement
