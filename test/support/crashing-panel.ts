import type { Daemon } from '../../src/adapters/daemon.ts'
import type { Database } from '../../src/db/database.ts'
import type { Panel } from '../../src/panel.ts'

/** Thrown by every operation of a process after it has crashed. */
export class ProcessCrashed extends Error {
  override readonly name = 'ProcessCrashed'
}

/** When a process crashes: at which of its statements, commits, calls and messages, and whether that one still happens. */
export type CrashPoint = { at: number; happens: boolean }

/** The state of a process; `stepsLeft` counts its operations down to the crash. */
export type ProcessState = { stepsLeft: number; happens: boolean; hasCrashed: boolean }

/** Creates the state of a process that crashes at this point, or never. */
export const processThatCrashes = (crash: CrashPoint | null): ProcessState => ({
  stepsLeft: crash?.at ?? Number.POSITIVE_INFINITY,
  happens: crash?.happens ?? false,
  hasCrashed: false,
})

/**
 * Creates the panel of a process that crashes: from then on its statements, commits, daemon calls and messages fail, so
 * that no handler of failures changes anything either. An open transaction is rolled back.
 */
export function crashingPanel(panel: Panel, state: ProcessState): Panel {
  return {
    ...panel,
    db: crashingDatabase(panel.db, state),
    transaction: (work) => crashingTransaction(panel, work, state),
    daemon: (node) => crashingDaemon(panel.daemon(node), state),
    wake: (jobs) => {
      if (countDown(state)) {
        if (state.happens) panel.wake(jobs)
        throw new ProcessCrashed()
      }
      panel.wake(jobs)
    },
  }
}

/** Counts one operation; returns true at the crash. Throws when the process has crashed already. */
function countDown(state: ProcessState): boolean {
  if (state.hasCrashed) throw new ProcessCrashed()
  state.stepsLeft -= 1
  if (state.stepsLeft > 0) return false
  state.hasCrashed = true
  return true
}

async function runStep<T>(state: ProcessState, work: () => Promise<T>): Promise<T> {
  if (countDown(state)) {
    if (state.happens) await work()
    throw new ProcessCrashed()
  }
  const result = await work()
  // Other work of the process crashed it meanwhile.
  if (state.hasCrashed) throw new ProcessCrashed()
  return result
}

async function crashingTransaction<T>(
  panel: Panel,
  work: (db: Database) => Promise<T>,
  state: ProcessState,
): Promise<T> {
  if (state.hasCrashed) throw new ProcessCrashed()
  let isLast = false
  const result = await panel.transaction(async (db) => {
    const done = await work(crashingDatabase(db, state))
    isLast = countDown(state)
    if (isLast && !state.happens) throw new ProcessCrashed()
    return done
  })
  if (isLast) throw new ProcessCrashed()
  return result
}

type Prepared = { execute: (...values: unknown[]) => Promise<unknown> }
type Session = { prepareQuery: (...input: unknown[]) => Prepared }

/** Wraps the session of drizzle, which prepares every statement, with any driver. */
function crashingDatabase(db: Database, state: ProcessState): Database {
  const { session } = db as unknown as { session: Session }
  const crashing = new Proxy(session, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (key !== 'prepareQuery') return typeof member === 'function' ? member.bind(target) : member
      return (...input: unknown[]) => {
        const query = target.prepareQuery(...input)
        const execute = query.execute.bind(query)
        query.execute = (...values) => runStep(state, () => execute(...values))
        return query
      }
    },
  })
  return Object.create(db, { session: { value: crashing } }) as Database
}

const crashingDaemon = (daemon: Daemon, state: ProcessState): Daemon =>
  new Proxy(daemon, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return (...input: unknown[]) => runStep(state, async () => member.apply(target, input))
    },
  })
