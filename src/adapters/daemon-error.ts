/** A call to a daemon that failed: the daemon answered with an error, or did not answer (`status` null). */
export class DaemonError extends Error {
  readonly status: number | null
  /** Whether the message is the daemon's: the log redacts it. */
  readonly hasForeignText: boolean
  /** The uuids of the node and of the server that the call was about, for the log; null where it was about none. */
  node: string | null = null
  server: string | null = null
  /** The daemon's own id of the request, for its log. */
  readonly requestId: string | null
  /** Seconds after which a retry is worthwhile, for a call that was not sent because the circuit is open. */
  readonly retryAfterSeconds: number | null
  /** Whether the answer was larger than what is read of a daemon, whatever its status. */
  readonly isTooLarge: boolean

  constructor(
    status: number | null,
    message: string,
    options: {
      requestId?: string | null
      retryAfterSeconds?: number
      isTooLarge?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'DaemonError'
    this.status = status
    this.hasForeignText = status !== null
    this.requestId = options.requestId ?? null
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
    this.isTooLarge = options.isTooLarge ?? false
  }
}

/** Whether the panel stopped waiting for a daemon that may still be working. */
export const hasTimedOut = (error: unknown): boolean =>
  error instanceof DaemonError && (error.cause as { name?: unknown } | undefined)?.name === 'TimeoutError'

/** Whether a call was sent and got no answer: what it asked for may have happened, and may still happen. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof DaemonError && error.status === null && error.retryAfterSeconds === null
