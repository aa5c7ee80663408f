import { type ClientPool, giveBackConnection, type Slot, takeConnection } from './client-pool.ts'
import { isPreparedOn, type NamedStatement, runPipeline } from './prepared-query.ts'

/** A statement that waits for the end of its turn of the event loop. */
export type GatheredStatement = {
  statement: NamedStatement
  values: (string | null)[]
  answer: { resolve: (result: { rows: unknown[] }) => void; reject: (error: Error) => void }
}

/** What a pipeline needs of its pool. */
export type PipelineOptions = {
  /** Milliseconds since 1970 until which what is sent now has to be answered. */
  deadline: () => number
  runAlone: (slot: Slot, gathered: GatheredStatement) => void
  /** Whether an error is of the connection, and not of a statement. */
  isLost: (error: Error) => boolean
  drop: (slot: Slot) => void
}

/**
 * Statements that one connection has at a time. More save less: of one for each the database is woken once, and each
 * waits for those before it.
 */
const maxPipelined = 8

/**
 * Returns what gathers the statements of one turn of the event loop, and sends up to eight of them over one connection as
 * a pipeline. For statements that read a bounded number of rows by indexes: the others wait for a slow one before them.
 */
export function openPipeline(
  pool: ClientPool,
  options: PipelineOptions,
): (statement: GatheredStatement) => void {
  let gathered: GatheredStatement[] = []
  const flush = () => {
    const statements = gathered
    gathered = []
    for (let at = 0; at < statements.length; at += maxPipelined)
      sendTogether(pool, options, statements.slice(at, at + maxPipelined))
  }
  return (statement) => {
    if (gathered.push(statement) === 1) setImmediate(flush)
  }
}

function sendTogether(pool: ClientPool, options: PipelineOptions, group: GatheredStatement[]): void {
  takeConnection(pool, {
    deadline: options.deadline(),
    fail: (error) => rejectAll(group, error),
    take: (slot) => runGroup(pool, slot, options, group),
  })
}

/** Runs a group on a connection. One that it has not prepared runs alone there, and the others go on. */
function runGroup(pool: ClientPool, slot: Slot, options: PipelineOptions, group: GatheredStatement[]): void {
  const unprepared = group.findIndex(({ statement }) => !isPreparedOn(slot.client, statement))
  if (unprepared < 0 && group.length > 1) return runTogether(pool, slot, options, group)
  const [alone] = group.splice(Math.max(0, unprepared), 1)
  if (alone) options.runAlone(slot, alone)
  if (group.length > 0) sendTogether(pool, options, group)
}

function runTogether(
  pool: ClientPool,
  slot: Slot,
  options: PipelineOptions,
  group: GatheredStatement[],
): void {
  slot.deadline = options.deadline()
  slot.fail = (error) => rejectAll(group, error)
  runPipeline(slot.send, group, (error) => {
    slot.deadline = Infinity
    slot.fail = null
    if (error && options.isLost(error)) {
      options.drop(slot)
      return rejectAll(group, error)
    }
    giveBackConnection(pool, slot)
    if (!error) return
    group.shift()?.answer.reject(error)
    // The database has run none of them.
    for (const each of group) sendTogether(pool, options, [each])
  })
}

const rejectAll = (group: GatheredStatement[], error: Error): void => {
  for (const { answer } of group) answer.reject(error)
}
