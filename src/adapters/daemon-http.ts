import { redactSecrets } from '../redaction.ts'
import { readJson, readText, requestIdOf } from './daemon-body.ts'
import { DaemonError } from './daemon-error.ts'

/** Milliseconds for a call to a daemon. */
export const defaultTimeoutMs = 12_000
/** Bytes that are read of the body of an error. */
const maxErrorBytes = 64 * 1024

/** Runs a call, or fails it at once while the circuit of its daemon is open; see `daemon-circuit-breaker.ts`. */
export type CallGuard = <T>(call: () => Promise<T>, options: { hasOwnTimeout: boolean }) => Promise<T>

/** Sends one request without following redirects; rejects with the reason of the signal once it has fired. */
export type DaemonFetch = (
  url: string,
  init: {
    method: string
    headers: Record<string, string>
    body?: string | Uint8Array<ArrayBuffer>
    signal: AbortSignal
  },
) => Promise<Response>

export type DaemonTarget = {
  /** The uuid of the node; null where it is unknown. */
  node: string | null
  /** Origin of the daemon. */
  url: string
  /** Returns the node's secret, without its id. */
  token: () => Promise<string>
  timeoutMs: number
  guard: CallGuard
  fetch: DaemonFetch
  /** The trace of the request; null without one. */
  traceparent: string | null
  tracestate: string | null
}

export type CallOptions = {
  /** Sent as JSON. */
  json?: object
  /** Sent unchanged. */
  raw?: string | Uint8Array<ArrayBuffer>
  /** For calls during which the daemon works. Their timeout does not open the circuit. */
  timeoutMs?: number
  /** Milliseconds to wait for an answer, when they are fewer than usual. */
  maxWaitMs?: number
}

/** Sends a request to a daemon and returns its successful response. Throws a `DaemonError` otherwise. */
export const request = (
  target: DaemonTarget,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Response> => call(target, method, path, options, async (response) => response)

/** Sends a request and discards the body of the response. */
export async function send(...input: Parameters<typeof request>): Promise<void> {
  const response = await request(...input)
  await response.body?.cancel()
}

/** Sends a request and parses the response as JSON of at most 8 MiB. */
export const requestJson = <T>(
  target: DaemonTarget,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<T> => call(target, method, path, options, readJson<T>)

/** Sends a request and returns what `read` makes of the response; the timeout of the call holds for both. */
export function call<T>(
  target: DaemonTarget,
  method: string,
  path: string,
  options: CallOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  return target
    .guard(async () => read(await fetchFromDaemon(target, method, path, options)), {
      hasOwnTimeout: options.timeoutMs !== undefined,
    })
    .catch((error: unknown) => {
      throw withSubject(error, target, path)
    })
}

/** Notes in the error of a call, for the log, the node and the server of its path. */
function withSubject(error: unknown, { node }: DaemonTarget, path: string): unknown {
  if (!(error instanceof DaemonError)) return error
  const server = /^\/api\/servers\/([\da-f-]{36})(?:\/|$)/.exec(path)?.[1] ?? null
  return Object.assign(error, { node, server })
}

/** Returns a handler for `.catch` that ignores errors with these statuses, which mean that there was nothing to do. */
export const ignoreStatuses =
  (...statuses: number[]) =>
  (error: unknown): void => {
    if (!(error instanceof DaemonError) || !statuses.includes(error.status ?? 0)) throw error
  }

async function fetchFromDaemon(target: DaemonTarget, method: string, path: string, options: CallOptions) {
  const token = await target.token()
  const body = options.json ? JSON.stringify(options.json) : options.raw
  let response: Response
  try {
    response = await target.fetch(`${target.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(options.json ? { 'content-type': 'application/json' } : {}),
        ...(target.traceparent === null ? {} : { traceparent: target.traceparent }),
        ...(target.tracestate === null ? {} : { tracestate: target.tracestate }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(
        options.timeoutMs ?? Math.min(options.maxWaitMs ?? Infinity, target.timeoutMs),
      ),
    })
  } catch (cause) {
    throw new DaemonError(null, 'The node did not answer.', { cause })
  }
  if (!response.ok) throw await toDaemonError(response, token)
  return response
}

/** Removes the secret of a node from its answer, also in the encodings that programs print. */
function withoutToken(text: string, token: string): string {
  const encoded = [token, encodeURIComponent(token), btoa(token).replace(/.=*$/, '')]
  return encoded.reduce(
    (rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '[redacted]')),
    text,
  )
}

/**
 * Reads the error of a response, without the secrets in it, of which `token` is the node's own. Daemons send some JSON as
 * plain text, so the content type does not count.
 */
async function toDaemonError(response: Response, token: string): Promise<DaemonError> {
  let message = `The node answered ${response.status}.`
  try {
    const body: unknown = JSON.parse(await readText(response, maxErrorBytes))
    if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string') {
      message = redactSecrets(withoutToken(body.error, token)).slice(0, 500)
    }
  } catch (error) {
    if (error instanceof DaemonError && error.isTooLarge) return error
    // Not JSON, or cut off: the message has the status only.
  }
  return new DaemonError(response.status, message, { requestId: requestIdOf(response) })
}
