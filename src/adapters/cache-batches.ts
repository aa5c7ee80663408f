import type { Cache } from './cache.ts'

/** Reads, or one way to change the entry of a key. */
type Kind = 'get' | 'set' | 'add' | 'remove' | 'hit'

/** What is asked of one key; `json` is stored for `seconds`, and `count` is how many hits are added. */
export type CacheCall = { kind: Kind; key: string; json: string | null; seconds: number; count: number }

/** What was found of a key, by the kind of the call: a value, that it was added, or its hits. */
export type CacheRow = {
  kind: string
  key: string
  value: string | null
  hits: number | null
  remaining: number | null
  /** Why this call was refused, while others of its batch were not. */
  fault?: unknown
}

/** What one caller gets: the row of its key, if there is one, and which of `count` equal calls its own was. */
type Answer = { row: CacheRow | null; place: number; count: number }
type Caller = PromiseWithResolvers<Answer>
type Waiting = { call: CacheCall; caller: Caller }
type Joined = { call: CacheCall; callers: Caller[] }

/** Calls that one statement has at most. */
const maxCalls = 1000

/** So many calls within so many milliseconds are many; then two statements are that far apart, and each asks for more. */
const many = { calls: 10, withinMs: 100, apartMs: 3 }

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/**
 * Returns a function that asks by one statement at a time: those who ask in one turn of the event loop, and while a statement
 * runs, are asked for together by the next one. Equal calls become one. While many ask, it waits for some of them.
 */
export function batchCalls(
  run: (calls: CacheCall[]) => Promise<CacheRow[]>,
): (call: CacheCall) => Promise<Answer> {
  const waiting: Waiting[] = []
  const lately: number[] = []
  let isRunning = false
  let ranAt = 0
  let waitsFrom = 0
  const untilDue = async () => {
    const now = performance.now()
    const areMany = lately.length === many.calls && now - (lately[0] ?? 0) < many.withinMs
    if (areMany && now >= waitsFrom && now - ranAt < many.apartMs) {
      await wait(many.apartMs)
      // Only one asks, and would wait for no others each time.
      if (waiting.length === 1) waitsFrom = now + many.withinMs
    } else await nextTurn()
    ranAt = performance.now()
  }
  const runAll = async () => {
    isRunning = true
    while (waiting.length > 0) {
      await untilDue()
      const batch = takeBatch(waiting)
      await run([...batch.values()].map(({ call }) => call)).then(
        (rows) => answer(batch, rows),
        (error: unknown) => {
          for (const { callers } of batch.values()) for (const { reject } of callers) reject(error)
          // They would wait as long as those before them.
          for (const { caller } of waiting.splice(0)) caller.reject(error)
        },
      )
    }
    isRunning = false
  }
  return (call) => {
    const caller = Promise.withResolvers<Answer>()
    waiting.push({ call, caller })
    lately.push(performance.now())
    if (lately.length > many.calls) lately.shift()
    if (!isRunning) void runAll()
    return caller.promise
  }
}

/** Returns a function that asks for each call by itself. */
export const askAlone =
  (run: (calls: CacheCall[]) => Promise<CacheRow[]>) =>
  async (call: CacheCall): Promise<Answer> => {
    const [row = null] = await run([call])
    if (row?.fault !== undefined) throw row.fault
    return { row, place: 1, count: call.count }
  }

/** How values are stored as text. */
type Codec = { encode: (value: unknown) => string; decode: <T>(text: string | null) => T | null }

/** Makes the calls of a cache, but `ping`, out of what asks for one of them. */
export function cacheOf(ask: (call: CacheCall) => Promise<Answer>, codec: Codec): Omit<Cache, 'ping'> {
  const call = (kind: Kind, key: string, value?: unknown, seconds = 0) =>
    ask({ kind, key, json: value === undefined ? null : codec.encode(value), seconds, count: 1 })
  return {
    get: async (key) => codec.decode((await call('get', key)).row?.value ?? null),
    set: async (key, value, seconds) => void (await call('set', key, value, seconds)),
    add: async (key, value, seconds) => {
      const { row, place } = await call('add', key, value, seconds)
      return row !== null && place === 1
    },
    remove: async (key) => void (await call('remove', key)),
    hit: async (key, seconds) => hitOf(await call('hit', key, undefined, seconds)),
  }
}

/** Returns what one caller has to know of the hits that were counted together with its own. */
const hitOf = ({ row, place, count }: Answer): { hits: number; resetsInSeconds: number } => ({
  hits: Number(row?.hits) - count + place,
  resetsInSeconds: Math.max(1, Number(row?.remaining)),
})

const nameOf = ({ kind, key }: { kind: string; key: string }) => `${kind} ${key}`

/** Takes the first calls, up to one that changes a key in another way than one before it: a statement changes a row once. */
function takeBatch(waiting: Waiting[]): Map<string, Joined> {
  const batch = new Map<string, Joined>()
  const changes = new Map<string, Kind>()
  let taken = 0
  for (const { call, caller } of waiting) {
    const { kind, key } = call
    const isChange = kind !== 'get'
    if (taken === maxCalls || (isChange && (changes.get(key) ?? kind) !== kind)) break
    if (isChange) changes.set(key, kind)
    const name = nameOf(call)
    batch.set(name, join(batch.get(name), call, caller))
    taken += 1
  }
  waiting.splice(0, taken)
  return batch
}

/** Of values that are stored the last one stays, of those that are added the first one. */
function join(known: Joined | undefined, call: CacheCall, caller: Caller): Joined {
  if (!known) return { call, callers: [caller] }
  const kept = call.kind === 'add' ? known.call : call
  return { call: { ...kept, count: known.call.count + call.count }, callers: [...known.callers, caller] }
}

function answer(batch: Map<string, Joined>, rows: CacheRow[]): void {
  const found = new Map(rows.map((row) => [nameOf(row), row]))
  for (const [name, { callers }] of batch) {
    const row = found.get(name) ?? null
    callers.forEach(({ resolve, reject }, index) => {
      if (row?.fault === undefined) resolve({ row, place: index + 1, count: callers.length })
      else reject(row.fault)
    })
  }
}
