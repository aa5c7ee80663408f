import { websocketDetails } from '../api/servers.ts'
import { asRequestError } from '../api/error.ts'

/** What a daemon says of the use of a server. Bytes, percent of one core, milliseconds. */
export type LiveStats = {
  state: string
  memory_bytes: number
  memory_limit_bytes: number
  cpu_absolute: number
  disk_bytes: number
  network: { rx_bytes: number; tx_bytes: number }
  uptime: number
}

/** `refused`: the reader may not, or no more; `unreachable`: tried again by itself. */
export type Connection = 'connecting' | 'open' | 'unreachable' | 'refused'

export type SocketSnapshot = {
  connection: Connection
  /** State of the game server: offline, starting, running, stopping; null while it is not known. */
  state: string | null
  stats: LiveStats | null
  /** When it is tried again, in milliseconds since 1970. */
  retryAt: number | null
  /** How often it was tried in vain since the line was last open, and since when, in milliseconds since 1970. */
  failures: number
  lostAt: number
  /** It was the panel that did not answer. */
  isPanelAway: boolean
}

export type SocketEvent = { event: string; args: string[] }
type Listener = (event: SocketEvent) => void

/** Milliseconds between tries: longer each time, but soon after all while somebody may be waiting. */
const firstDelay = 500
const soonDelay = 2000
const soonTries = 12
const longestDelay = 15_000
/** A token that is no good is not asked for again and again. */
const betweenRenewals = 5000
/** Milliseconds after which a line that is not open by then is given up. */
const openingTakes = 10_000
/** Milliseconds of silence after which the daemon is asked for a sign of life. */
const longestSilence = 20_000
/** Milliseconds between two looks at the line, and for a sign of life that was asked for. */
const betweenLooks = 10_000
const silent: SocketSnapshot = {
  connection: 'connecting',
  state: null,
  stats: null,
  retryAt: null,
  failures: 0,
  lostAt: 0,
  isPanelAway: false,
}

/**
 * The line to a server's daemon: opened with a token of the panel, which is renewed on the same socket before
 * it expires, and opened again by itself when it is lost. Wings: WS /api/servers/{uuid}/ws.
 */
export class ConsoleSocket {
  readonly #server: string
  #socket: WebSocket | null = null
  #snapshot = silent
  #timer: ReturnType<typeof setTimeout> | undefined
  #watchdog: ReturnType<typeof setInterval> | undefined
  #heardAt = 0
  #asked = false
  #closed = true
  #seenBefore = false
  #renewedAt = 0
  readonly #watchers = new Set<() => void>()
  readonly #listeners = new Set<Listener>()

  constructor(server: string) {
    this.#server = server
  }

  /** What is known now, for `useSyncExternalStore`. */
  readonly snapshot = (): SocketSnapshot => this.#snapshot

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /**
   * Hears every event from now on, and what no daemon sends: `opened` or `reopened` when the line is open, and
   * `conflict` when the panel does not open it for the state of the server.
   */
  readonly listen = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Opens the line, and keeps it open until `close`. */
  open(): void {
    this.#closed = false
    addEventListener('online', this.#now)
    this.#watchdog = setInterval(this.#look, betweenLooks)
    void this.#connect()
  }

  close(): void {
    this.#closed = true
    removeEventListener('online', this.#now)
    clearTimeout(this.#timer)
    clearInterval(this.#watchdog)
    this.#socket?.close()
    this.#socket = null
  }

  /** Tells the daemon. False while the line is not open. */
  send(event: string, ...args: string[]): boolean {
    if (this.#snapshot.connection !== 'open') return false
    this.#socket?.send(JSON.stringify({ event, args }))
    return true
  }

  /** Tries at once instead of waiting. */
  readonly retry = (): void => this.#now()

  readonly #now = () => {
    if (this.#closed || this.#snapshot.connection === 'open' || this.#snapshot.connection === 'connecting')
      return
    clearTimeout(this.#timer)
    void this.#connect()
  }

  async #connect(): Promise<void> {
    this.#set({ connection: 'connecting', retryAt: null })
    try {
      const { data } = await websocketDetails(this.#server)
      if (this.#closed) return
      const socket = new WebSocket(data.socket)
      this.#socket = socket
      this.#heardAt = Date.now()
      socket.addEventListener('open', () =>
        socket.send(JSON.stringify({ event: 'auth', args: [data.token] })),
      )
      socket.addEventListener('message', ({ data: text }) => this.#hear(socket, String(text)))
      socket.addEventListener('close', () => {
        if (this.#socket === socket) this.#lost()
      })
    } catch (error) {
      if (this.#closed) return
      const status = asRequestError(error)?.status
      if (status === 401 || status === 403 || status === 404) this.#refused()
      else this.#lost(status === 0, asRequestError(error)?.retryAfter)
      if (status === 409) this.#tell({ event: 'conflict', args: [] })
    }
  }

  /** A line on which nothing comes any more is closed by nobody: networks that go away say nothing. */
  readonly #look = () => {
    const socket = this.#socket
    if (!socket) return
    const isOpen = this.#snapshot.connection === 'open'
    if (Date.now() - this.#heardAt < (isOpen ? longestSilence : openingTakes)) return
    if (isOpen && !this.#asked) this.#asked = this.send('send stats')
    else {
      socket.close()
      this.#lost()
    }
  }

  #hear(socket: WebSocket, text: string): void {
    if (this.#socket !== socket) return
    this.#heardAt = Date.now()
    this.#asked = false
    const { event, args } = read(text)
    if (event === 'auth success') this.#opened()
    if (event === 'token expiring' || event === 'token expired' || event === 'jwt error')
      void this.#renew(socket)
    if (event === 'status') this.#set({ state: args[0] ?? null })
    if (event === 'stats') this.#use(args[0])
    this.#tell({ event, args })
  }

  #tell(event: SocketEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  #opened(): void {
    const isRenewal = this.#snapshot.connection === 'open'
    this.#set({ connection: 'open', retryAt: null, failures: 0 })
    if (isRenewal) return
    this.send('send stats')
    this.send('send logs')
    // The log that was asked for repeats lines from before the line was lost; listeners tell by `reopened`.
    this.#tell({ event: this.#seenBefore ? 'reopened' : 'opened', args: [] })
    this.#seenBefore = true
  }

  #use(text: string | undefined): void {
    const stats = readStats(text)
    if (stats) this.#set({ stats, state: stats.state })
  }

  /** A new token on the same line: nothing is lost, and the scroll stays where it is. */
  async #renew(socket: WebSocket): Promise<void> {
    if (Date.now() - this.#renewedAt < betweenRenewals) return
    this.#renewedAt = Date.now()
    try {
      const { data } = await websocketDetails(this.#server)
      if (this.#socket === socket) socket.send(JSON.stringify({ event: 'auth', args: [data.token] }))
    } catch (error) {
      const status = asRequestError(error)?.status
      if (status !== 401 && status !== 403 && status !== 404) return
      socket.close()
      this.#refused()
    }
  }

  #lost(isPanelAway = false, seconds?: number | null): void {
    this.#socket = null
    if (this.#closed) return
    const { failures, lostAt } = this.#snapshot
    const longest = failures < soonTries ? soonDelay : longestDelay
    const backOff = Math.min(longest, firstDelay * 2 ** failures) * (0.75 + Math.random() / 2)
    const delay = Math.max(backOff, (seconds ?? 0) * 1000)
    this.#set({
      connection: 'unreachable',
      stats: null,
      state: null,
      retryAt: Date.now() + delay,
      failures: failures + 1,
      lostAt: failures === 0 ? Date.now() : lostAt,
      isPanelAway,
    })
    this.#timer = setTimeout(this.#now, delay)
  }

  #refused(): void {
    this.#socket = null
    this.#set({ ...silent, connection: 'refused' })
  }

  #set(change: Partial<SocketSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change }
    for (const watcher of this.#watchers) watcher()
  }
}

function read(text: string): SocketEvent {
  try {
    const { event, args } = JSON.parse(text) as { event?: unknown; args?: unknown }
    return { event: String(event), args: Array.isArray(args) ? args.map(String) : [] }
  } catch {
    return { event: '', args: [] }
  }
}

function readStats(text: string | undefined): LiveStats | null {
  try {
    return text ? (JSON.parse(text) as LiveStats) : null
  } catch {
    return null
  }
}
