import type { Daemon } from '../../src/adapters/daemon.ts'
import type { Database } from '../../src/db/database.ts'
import type { Panel } from '../../src/panel.ts'

/** What is thrown by everything that a process does after it has died. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

/** When a process dies: with which of its statements, commits, calls and messages, and whether that one still happens. */
export type Death = { at: number; happens: boolean }

/** How it stands with a process; `left` counts what it does down to its death. */
export type Life = { left: number; happens: boolean; isOver: boolean }

/** A life that ends so, or never. */
export const lifeWith = (death: Death | null): Life => ({
  left: death?.at ?? Number.POSITIVE_INFINITY,
  happens: death?.happens ?? false,
  isOver: false,
})

/**
 * The panel of a process that dies: from then on its statements, commits, daemon calls and messages fail, so
 * that no handler of failures changes anything either. An open transaction is rolled back.
 */
export function mortalPanel(panel: Panel, life: Life): Panel {
  return {
    ...panel,
    db: mortalDatabase(panel.db, life),
    transaction: (work) => mortalTransaction(panel, work, life),
    daemon: (node) => mortalDaemon(panel.daemon(node), life),
    wake: (jobs) => {
      if (dies(life)) {
        if (life.happens) panel.wake(jobs)
        throw new ProcessDied()
      }
      panel.wake(jobs)
    },
  }
}

/** Counts one more thing that is done. Throws when the process is dead already. */
function dies(life: Life): boolean {
  if (life.isOver) throw new ProcessDied()
  life.left -= 1
  if (life.left > 0) return false
  life.isOver = true
  return true
}

async function live<T>(life: Life, work: () => Promise<T>): Promise<T> {
  if (dies(life)) {
    if (life.happens) await work()
    throw new ProcessDied()
  }
  const result = await work()
  // Somebody else in the process died meanwhile.
  if (life.isOver) throw new ProcessDied()
  return result
}

async function mortalTransaction<T>(
  panel: Panel,
  work: (db: Database) => Promise<T>,
  life: Life,
): Promise<T> {
  if (life.isOver) throw new ProcessDied()
  let isLast = false
  const result = await panel.transaction(async (db) => {
    const done = await work(mortalDatabase(db, life))
    isLast = dies(life)
    if (isLast && !life.happens) throw new ProcessDied()
    return done
  })
  if (isLast) throw new ProcessDied()
  return result
}

type Prepared = { execute: (...values: unknown[]) => Promise<unknown> }
type Session = { prepareQuery: (...input: unknown[]) => Prepared }

/** Every statement of drizzle is prepared by the session, whichever driver is behind it. */
function mortalDatabase(db: Database, life: Life): Database {
  const { session } = db as unknown as { session: Session }
  const mortal = new Proxy(session, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (key !== 'prepareQuery') return typeof member === 'function' ? member.bind(target) : member
      return (...input: unknown[]) => {
        const query = target.prepareQuery(...input)
        const execute = query.execute.bind(query)
        query.execute = (...values) => live(life, () => execute(...values))
        return query
      }
    },
  })
  return Object.create(db, { session: { value: mortal } }) as Database
}

const mortalDaemon = (daemon: Daemon, life: Life): Daemon =>
  new Proxy(daemon, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return (...input: unknown[]) => live(life, async () => member.apply(target, input))
    },
  })
