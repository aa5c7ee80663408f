/** Milliseconds after which a call to a daemon is given up, unless it says otherwise. */
export const defaultTimeout = 12_000

/** A daemon that could not be reached (`status` null), or what it answered instead of success. */
export class DaemonError extends Error {
  readonly status: number | null
  readonly requestId: string | null
  /** Seconds after which it is worth asking again, when nobody was asked at all. */
  readonly retryAfter: number | null

  constructor(
    status: number | null,
    message: string,
    options: { requestId?: string | null; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'DaemonError'
    this.status = status
    this.requestId = options.requestId ?? null
    this.retryAfter = options.retryAfter ?? null
  }
}

/** Runs a call unless its daemon is known not to answer; see `daemon-circuits.ts`. */
export type CircuitGuard = <T>(call: () => Promise<T>, options: { patient: boolean }) => Promise<T>

export type DaemonTarget = {
  /** Origin of the daemon. */
  url: string
  /** The node's secret alone, without its id. */
  token: () => Promise<string>
  /** Milliseconds after which a call is given up. */
  timeout: number
  guard: CircuitGuard
  /** The trace in which the daemon is called; null without one. */
  traceparent: string | null
}

export type CallOptions = {
  /** Sent as JSON. */
  json?: object
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>
  /** Milliseconds, where the daemon works while the caller waits: running out of them says nothing about the daemon. */
  patience?: number
}

/** Calls a daemon; the answer is a success. Throws a `DaemonError` otherwise. */
export function call(
  target: DaemonTarget,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  return target.guard(() => send(target, method, path, options), { patient: options.patience !== undefined })
}

/** The same where nobody reads the answer. */
export async function tell(...input: Parameters<typeof call>): Promise<void> {
  const answer = await call(...input)
  await answer.body?.cancel()
}

/** The same where the answer is JSON. */
export async function ask<T>(...input: Parameters<typeof call>): Promise<T> {
  const answer = await call(...input)
  try {
    return (await answer.json()) as T
  } catch (cause) {
    const requestId = requestIdOf(answer)
    throw new DaemonError(answer.status, 'The node gave an answer that cannot be read.', { requestId, cause })
  }
}

/** Passes over refusals which mean that there was nothing to do; for `.catch`. */
export const unless =
  (...harmless: number[]) =>
  (error: unknown): void => {
    if (!(error instanceof DaemonError) || !harmless.includes(error.status ?? 0)) throw error
  }

async function send(target: DaemonTarget, method: string, path: string, options: CallOptions) {
  const token = await target.token()
  const body = options.json ? JSON.stringify(options.json) : options.raw
  let answer: Response
  try {
    answer = await fetch(`${target.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(options.json ? { 'content-type': 'application/json' } : {}),
        ...(target.traceparent === null ? {} : { traceparent: target.traceparent }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(options.patience ?? target.timeout),
    })
  } catch (cause) {
    throw new DaemonError(null, 'The node did not answer.', { cause })
  }
  if (!answer.ok) throw await errorFrom(answer)
  return answer
}

const requestIdOf = (answer: Response) => answer.headers.get('x-request-id')

/** A daemon labels JSON as plain text at times, so the text is tried, not the label. */
async function errorFrom(answer: Response): Promise<DaemonError> {
  const text = await answer.text().catch(() => '')
  let message = `The node answered ${answer.status}.`
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string') {
      message = body.error.slice(0, 500)
    }
  } catch {
    // Not JSON: the status says it all.
  }
  return new DaemonError(answer.status, message, { requestId: requestIdOf(answer) })
}
