/** Does work of one name in turn, whatever becomes of the work before; work of other names goes on beside it. */
export type Turns = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** Turns of this process. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(work, work)
    last.set(name, mine)
    try {
      return await mine
    } finally {
      if (last.get(name) === mine) last.delete(name)
    }
  }
}
