import type { ConsoleSocket, LiveStats, SocketEvent } from '../console-socket.ts'

/** How many samples are kept; daemons send one per second. */
export const maxValues = 180
/** After a longer pause the line is interrupted. */
const maxGapMs = 5000

/** Seconds since 1970, percent of one CPU core, bytes, bytes per second; null when unknown. */
export type UsageSample = {
  at: number
  cpu: number | null
  memory: number | null
  disk: number | null
  received: number | null
  sent: number | null
}

const noUsage = { cpu: null, memory: null, disk: null, received: null, sent: null }

/** The resource usage of a server in the last minutes. */
export class UsageHistory {
  #values: readonly UsageSample[] = []
  #last: { at: number; stats: LiveStats } | null = null
  readonly #subscribers = new Set<() => void>()

  /** Collects the stats of a socket until the returned function is called. */
  follow(socket: ConsoleSocket): () => void {
    return socket.onEvent((event) => this.#onEvent(event, socket))
  }

  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  /** Returns the samples, for `useSyncExternalStore`. */
  readonly values = (): readonly UsageSample[] => this.#values

  #onEvent({ event }: SocketEvent, socket: ConsoleSocket): void {
    const { stats } = socket.getSnapshot()
    if (event !== 'stats' || !stats) return
    const at = Date.now()
    const isBroken = this.#last !== null && at - this.#last.at > maxGapMs
    const gap = isBroken ? [{ at: at / 1000 - 1, ...noUsage }] : []
    this.#values = [...this.#values, ...gap, this.#value(at, stats, isBroken)].slice(-maxValues)
    this.#last = { at, stats }
    for (const subscriber of this.#subscribers) subscriber()
  }

  #value(at: number, stats: LiveStats, isBroken: boolean): UsageSample {
    const before = isBroken ? null : this.#last
    const seconds = before ? (at - before.at) / 1000 : 0
    // The counters restart with the server.
    const rate = (now: number, then: number) => (seconds > 0 && now >= then ? (now - then) / seconds : null)
    return {
      at: at / 1000,
      cpu: stats.cpu_absolute,
      memory: stats.memory_bytes,
      disk: stats.disk_bytes,
      received: before ? rate(stats.network.rx_bytes, before.stats.network.rx_bytes) : null,
      sent: before ? rate(stats.network.tx_bytes, before.stats.network.tx_bytes) : null,
    }
  }
}
