import { fetchConsoleAccess } from '../api/servers.ts'
import { asRequestError } from '../api/error.ts'

/** Resource usage from the daemon: bytes, percent of one CPU core, milliseconds. */
export type LiveStats = {
  state: string
  memory_bytes: number
  memory_limit_bytes: number
  cpu_absolute: number
  disk_bytes: number
  network: { rx_bytes: number; tx_bytes: number }
  uptime: number
}

/** `closed`: not wanted; `refused`: the user has no access (any more); `unreachable`: retried automatically. */
export type Connection = 'closed' | 'connecting' | 'open' | 'unreachable' | 'refused'

export type SocketSnapshot = {
  connection: Connection
  /** State of the game server: offline, starting, running or stopping; null while it is unknown. */
  state: string | null
  stats: LiveStats | null
  /** When the next attempt starts, in milliseconds since 1970. */
  retryAt: number | null
  /** Failed attempts since the connection was last open, and when it was lost, in milliseconds since 1970. */
  failures: number
  lostAt: number
  /** Whether the panel itself did not answer. */
  isPanelUnreachable: boolean
}

export type SocketEvent = { event: string; args: string[] }
type Listener = (event: SocketEvent) => void

/** Delays between attempts: exponential backoff with a low cap at first, since the user is likely to be waiting. */
const firstRetryDelayMs = 500
const earlyRetryDelayMs = 2000
const earlyRetries = 12
const maxRetryDelayMs = 15_000
/** A token that keeps being rejected is not requested in a loop. */
const minRenewalIntervalMs = 15_000
/** After an attempt that failed, a token is used again up to this age: the server may be on another node by now. */
const maxAgeAfterFailureMs = 30_000
/** The daemon closes a connection with this code while the server is suspended. */
const suspendedCode = 4409
/** A connection that has not opened by then is closed. */
const openTimeoutMs = 10_000
/** After this long without a message, the daemon is asked for stats to see whether it still answers. */
const idleTimeoutMs = 20_000
/** How often the connection is checked, and how long an answer is awaited. */
const watchdogIntervalMs = 10_000
const initialSnapshot: SocketSnapshot = {
  connection: 'closed',
  state: null,
  stats: null,
  retryAt: null,
  failures: 0,
  lostAt: 0,
  isPanelUnreachable: false,
}

/**
 * The WebSocket connection to a server's daemon. Authenticates with a token of the panel, renews it on the same
 * socket before it expires, and reconnects with the same token when the connection is lost. Wings: WS /api/servers/{uuid}/ws.
 */
export class ConsoleSocket {
  readonly #server: string
  #socket: WebSocket | null = null
  #snapshot = initialSnapshot
  #timer: ReturnType<typeof setTimeout> | undefined
  #watchdog: ReturnType<typeof setInterval> | undefined
  #lastMessageAt = 0
  #isPinged = false
  #isClosed = true
  #wasOpen = false
  #renewedAt = 0
  /** The age up to which the next attempt uses a token again, in milliseconds. */
  #maxTokenAgeMs: number | undefined
  readonly #subscribers = new Set<() => void>()
  readonly #listeners = new Set<Listener>()

  constructor(server: string) {
    this.#server = server
  }

  /** Returns the current state, for `useSyncExternalStore`. */
  readonly getSnapshot = (): SocketSnapshot => this.#snapshot

  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  /**
   * Calls the listener for every event. Besides those of the daemon: `opened` and `reopened` when the connection is
   * open, and `conflict` when the panel refuses it for the state of the server.
   */
  readonly onEvent = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Connects, and reconnects until `close`. */
  open(): void {
    if (!this.#isClosed) return
    this.#isClosed = false
    addEventListener('online', this.#retryNow)
    this.#watchdog = setInterval(this.#checkIdle, watchdogIntervalMs)
    void this.#connect()
  }

  close(): void {
    this.#isClosed = true
    removeEventListener('online', this.#retryNow)
    clearTimeout(this.#timer)
    clearInterval(this.#watchdog)
    const socket = this.#socket
    this.#giveUp('closed')
    socket?.close()
  }

  /** Sends an event to the daemon. Returns false while the connection is not open. */
  send(event: string, ...args: string[]): boolean {
    if (this.#snapshot.connection !== 'open') return false
    this.#socket?.send(JSON.stringify({ event, args }))
    return true
  }

  /** Reconnects at once instead of waiting. */
  readonly retry = (): void => this.#retryNow()

  readonly #retryNow = () => {
    if (this.#isClosed || this.#snapshot.connection === 'open' || this.#snapshot.connection === 'connecting')
      return
    clearTimeout(this.#timer)
    void this.#connect()
  }

  async #connect(): Promise<void> {
    this.#set({ connection: 'connecting', retryAt: null })
    try {
      const { data } = await fetchConsoleAccess(this.#server, this.#maxTokenAgeMs)
      if (this.#isClosed || this.#socket) return
      this.#maxTokenAgeMs = maxAgeAfterFailureMs
      const socket = new WebSocket(data.socket)
      this.#socket = socket
      this.#lastMessageAt = Date.now()
      socket.addEventListener('open', () =>
        socket.send(JSON.stringify({ event: 'auth', args: [data.token] })),
      )
      socket.addEventListener('message', ({ data: text }) => this.#onMessage(socket, String(text)))
      socket.addEventListener('close', ({ code }) => {
        if (this.#socket !== socket) return
        if (code === suspendedCode) this.#maxTokenAgeMs = 0
        this.#onLost()
      })
    } catch (error) {
      if (this.#isClosed) return
      const status = asRequestError(error)?.status
      if (status === 401 || status === 403 || status === 404) this.#giveUp()
      else this.#onLost(status === 0, asRequestError(error)?.retryAfter)
      if (status === 409) this.#emit({ event: 'conflict', args: [] })
    }
  }

  /** A connection that is cut off by the network is never closed by the other side. */
  readonly #checkIdle = () => {
    const socket = this.#socket
    if (!socket) return
    const isOpen = this.#snapshot.connection === 'open'
    if (Date.now() - this.#lastMessageAt < (isOpen ? idleTimeoutMs : openTimeoutMs)) return
    if (isOpen && !this.#isPinged) this.#isPinged = this.send('send stats')
    else {
      socket.close()
      this.#onLost()
    }
  }

  #onMessage(socket: WebSocket, text: string): void {
    if (this.#socket !== socket) return
    this.#lastMessageAt = Date.now()
    this.#isPinged = false
    const { event, args } = parseEvent(text)
    if (event === 'auth success') this.#onOpen()
    if (event === 'token expiring' || event === 'token expired' || event === 'jwt error')
      void this.#renewToken(socket)
    if (event === 'status') this.#set({ state: args[0] ?? null })
    if (event === 'stats') this.#onStats(args[0])
    this.#emit({ event, args })
  }

  #emit(event: SocketEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  #onOpen(): void {
    const isRenewal = this.#snapshot.connection === 'open'
    this.#maxTokenAgeMs = undefined
    this.#set({ connection: 'open', retryAt: null, failures: 0 })
    if (isRenewal) return
    this.send('send stats')
    this.send('send logs')
    // The requested log repeats lines from before the connection was lost; `reopened` tells listeners so.
    this.#emit({ event: this.#wasOpen ? 'reopened' : 'opened', args: [] })
    this.#wasOpen = true
  }

  #onStats(text: string | undefined): void {
    const stats = parseStats(text)
    if (stats) this.#set({ stats, state: stats.state })
  }

  /** Sends a new token on the same socket, so that no output is lost. */
  async #renewToken(socket: WebSocket): Promise<void> {
    if (Date.now() - this.#renewedAt < minRenewalIntervalMs) return
    this.#renewedAt = Date.now()
    try {
      const { data } = await fetchConsoleAccess(this.#server, 0)
      if (this.#socket === socket) socket.send(JSON.stringify({ event: 'auth', args: [data.token] }))
    } catch (error) {
      const status = asRequestError(error)?.status
      if (status !== 401 && status !== 403 && status !== 404) return
      socket.close()
      this.#giveUp()
    }
  }

  #onLost(isPanelUnreachable = false, retryAfter?: number | null): void {
    this.#socket = null
    if (this.#isClosed) return
    const { failures, lostAt } = this.#snapshot
    const maxDelay = failures < earlyRetries ? earlyRetryDelayMs : maxRetryDelayMs
    const backoff = Math.min(maxDelay, firstRetryDelayMs * 2 ** failures) * (0.75 + Math.random() / 2)
    const delay = Math.max(backoff, (retryAfter ?? 0) * 1000)
    this.#set({
      connection: 'unreachable',
      stats: null,
      state: null,
      retryAt: Date.now() + delay,
      failures: failures + 1,
      lostAt: failures === 0 ? Date.now() : lostAt,
      isPanelUnreachable,
    })
    this.#timer = setTimeout(this.#retryNow, delay)
  }

  #giveUp(connection: 'closed' | 'refused' = 'refused'): void {
    this.#socket = null
    this.#set({ ...initialSnapshot, connection })
  }

  #set(change: Partial<SocketSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change }
    for (const subscriber of this.#subscribers) subscriber()
  }
}

function parseEvent(text: string): SocketEvent {
  try {
    const { event, args } = JSON.parse(text) as { event?: unknown; args?: unknown }
    return { event: String(event), args: Array.isArray(args) ? args.map(String) : [] }
  } catch {
    return { event: '', args: [] }
  }
}

function parseStats(text: string | undefined): LiveStats | null {
  try {
    return text ? (JSON.parse(text) as LiveStats) : null
  } catch {
    return null
  }
}
