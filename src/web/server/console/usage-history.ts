import type { ConsoleSocket, LiveStats, SocketEvent } from '../console-socket.ts'

/** Values that are kept: as many seconds, since daemons tell one each second. */
export const mostValues = 180
/** Milliseconds without values after which a curve is broken. */
const longestStep = 5000

/** Seconds since 1970, percent of one core, bytes, bytes a second. Null where nothing was known. */
export type UsageValue = {
  at: number
  cpu: number | null
  memory: number | null
  received: number | null
  sent: number | null
}

const unknown = { cpu: null, memory: null, received: null, sent: null }

/** How much a server used in the last minutes. */
export class UsageHistory {
  #values: readonly UsageValue[] = []
  #last: { at: number; stats: LiveStats } | null = null
  readonly #watchers = new Set<() => void>()

  /** Hears the values until the returned function is called. */
  follow(socket: ConsoleSocket): () => void {
    return socket.listen((event) => this.#hear(event, socket))
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** What is known now, for `useSyncExternalStore`. */
  readonly values = (): readonly UsageValue[] => this.#values

  #hear({ event }: SocketEvent, socket: ConsoleSocket): void {
    const { stats } = socket.snapshot()
    if (event !== 'stats' || !stats) return
    const at = Date.now()
    const isBroken = this.#last !== null && at - this.#last.at > longestStep
    const gap = isBroken ? [{ at: at / 1000 - 1, ...unknown }] : []
    this.#values = [...this.#values, ...gap, this.#value(at, stats, isBroken)].slice(-mostValues)
    this.#last = { at, stats }
    for (const watcher of this.#watchers) watcher()
  }

  #value(at: number, stats: LiveStats, isBroken: boolean): UsageValue {
    const before = isBroken ? null : this.#last
    const seconds = before ? (at - before.at) / 1000 : 0
    // Counters begin again with the server.
    const rate = (now: number, then: number) => (seconds > 0 && now >= then ? (now - then) / seconds : null)
    return {
      at: at / 1000,
      cpu: stats.cpu_absolute,
      memory: stats.memory_bytes,
      received: before ? rate(stats.network.rx_bytes, before.stats.network.rx_bytes) : null,
      sent: before ? rate(stats.network.tx_bytes, before.stats.network.tx_bytes) : null,
    }
  }
}
