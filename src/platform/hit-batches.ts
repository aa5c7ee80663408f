type Hit = { hits: number; resetsInSeconds: number }
type Waiting = { seconds: number; callers: PromiseWithResolvers<Hit>[] }

/** What one statement counts, and what it answers for each key. */
export type HitRow = { key: string; hits: number; seconds: number }
export type CountedRow = { key: string; hits: number; remaining: number }

/**
 * Returns a function that counts hits by one statement at a time: those that come while it runs are counted together by the
 * next one. Every caller gets a number of its own.
 */
export function batchHits(
  count: (rows: HitRow[]) => Promise<CountedRow[]>,
): (key: string, seconds: number) => Promise<Hit> {
  let waiting = new Map<string, Waiting>()
  let isCounting = false
  const countAll = async () => {
    isCounting = true
    while (waiting.size > 0) {
      const batch = waiting
      waiting = new Map()
      await count(rowsOf(batch)).then(
        (counted) => answer(batch, counted),
        (error: unknown) => {
          refuse(batch, error)
          // They would wait as long as those before them.
          refuse(waiting, error)
          waiting = new Map()
        },
      )
    }
    isCounting = false
  }
  return (key, seconds) => {
    const caller = Promise.withResolvers<Hit>()
    const known = waiting.get(key)
    if (known) known.callers.push(caller)
    else waiting.set(key, { seconds, callers: [caller] })
    if (!isCounting) void countAll()
    return caller.promise
  }
}

const rowsOf = (batch: Map<string, Waiting>): HitRow[] =>
  Array.from(batch, ([key, { seconds, callers }]) => ({ key, hits: callers.length, seconds }))

function answer(batch: Map<string, Waiting>, counted: CountedRow[]): void {
  for (const { key, hits, remaining } of counted) {
    const callers = batch.get(key)?.callers ?? []
    const before = Number(hits) - callers.length
    const resetsInSeconds = Math.max(1, Number(remaining))
    callers.forEach(({ resolve }, index) => resolve({ hits: before + index + 1, resetsInSeconds }))
  }
}

function refuse(batch: Map<string, Waiting>, error: unknown): void {
  for (const { callers } of batch.values()) for (const { reject } of callers) reject(error)
}
