/** One element of `errors` in a response. */
export type ErrorEntry = { code: string; detail: string; meta?: { source_field: string; rule: string } }

/** An error response. Thrown anywhere; `http/errors.ts` writes it. */
export class ApiError extends Error {
  readonly status: number
  readonly entries: readonly ErrorEntry[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    entries: ErrorEntry[],
    options: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(entries[0]?.detail ?? 'Refused.', options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'ApiError'
    this.status = status
    this.entries = entries
    this.headers = options.headers ?? {}
  }
}

const apiError = (
  status: number,
  code: string,
  detail: string,
  options?: { cause?: unknown; headers?: Record<string, string> },
) => new ApiError(status, [{ code, detail }], options)

/** 400: the request cannot be processed. Clients compare `code`. */
export const badRequest = (detail: string, code = 'BadRequestHttpException') => apiError(400, code, detail)

/** 400 with a sentence that clients show to the user. */
export const displayError = (detail: string, code = 'DisplayException') => apiError(400, code, detail)

/** 401: the credential is missing or invalid. */
export const unauthenticated = (detail = 'A valid credential is required.') =>
  apiError(401, 'AuthenticationException', detail, { headers: { 'www-authenticate': 'Bearer' } })

/** 403: the caller is authenticated, but lacks a permission. */
export const forbidden = (
  detail = 'You do not have permission to do this.',
  code = 'AccessDeniedHttpException',
) => apiError(403, code, detail)

/** 404: the resource does not exist, or the caller may not see it. */
export const notFound = (detail = 'The resource was not found.', code = 'NotFoundHttpException') =>
  apiError(404, code, detail)

/** 405: the path exists with other methods. */
export const methodNotAllowed = (allowed: string[]) =>
  apiError(405, 'MethodNotAllowedHttpException', `This path supports ${allowed.join(', ')} only.`, {
    headers: { allow: allowed.join(', ') },
  })

/** 400: the client closed the connection before the end of its body. */
export const incompleteBody = (cause?: unknown) =>
  apiError(400, 'IncompleteBodyException', 'The request body ended before its end was sent.', { cause })

/** 408: the body came too slowly. The rest of it is not read, so the connection is closed. */
export const requestTimeout = () =>
  apiError(408, 'RequestTimeoutHttpException', 'The request body was sent too slowly.', {
    headers: { connection: 'close' },
  })

/** 409: the state of the resource does not allow it. */
export const conflict = (detail: string, code = 'ConflictHttpException') => apiError(409, code, detail)

/** 409: the server is suspended, being installed, restored or transferred, or its node is under maintenance. */
export const serverStateConflict = (detail: string) => apiError(409, 'ServerStateConflictException', detail)

/** 412: the resource is not the version that the request was made for. */
export const preconditionFailed = () =>
  apiError(412, 'PreconditionFailedHttpException', 'The resource has been changed meanwhile. Load it again.')

/** 413: the body is larger than `limit` bytes. */
export const payloadTooLarge = (limit: number) =>
  apiError(413, 'PayloadTooLargeHttpException', `The request body must not be larger than ${limit} bytes.`)

/** 422 with one entry per failed rule; `source_field` keeps dots, `rule` is snake_case. */
export const invalid = (failures: { field: string; rule: string; detail: string }[]) =>
  new ApiError(
    422,
    failures.map(({ field, rule, detail }) => ({
      code: 'ValidationException',
      detail,
      meta: { source_field: field, rule },
    })),
  )

/** 429 with `Retry-After`. */
export const tooManyRequests = (
  retryAfterSeconds: number,
  headers: Record<string, string> = {},
  code = 'ThrottleRequestsException',
) =>
  apiError(429, code, 'Too many requests. Wait a moment and try again.', {
    headers: { 'retry-after': String(retryAfterSeconds), ...headers },
  })

/** 507 with `Retry-After`: the disk of the panel or of its database is full. Reading still works. */
export const storageFull = (cause?: unknown) =>
  apiError(
    507,
    'InsufficientStorageHttpException',
    'The panel has no disk space left, so nothing was changed. Its operator has to free some.',
    { cause, headers: { 'retry-after': '30' } },
  )

/** 503 with `Retry-After`: a temporary failure. */
export const unavailable = (detail: string, cause?: unknown) =>
  apiError(503, 'ServiceUnavailableHttpException', detail, { cause, headers: { 'retry-after': '5' } })

/** 503 with `Retry-After`: more is asked than this process does at once. Logged once a minute. */
export const overloaded = (detail: string) =>
  apiError(503, 'ServiceOverloadedException', detail, { headers: { 'retry-after': '5' } })

/** 502 when a database host refused, 504 when it did not answer. */
export const databaseHostFailure = (status: 502 | 504, detail: string, cause?: unknown) =>
  apiError(status, 'DatabaseHostException', detail, { cause })

/** 503 with `Retry-After`: the circuit breaker of the node is open. Schedules recognize the sentence in stored rows. */
export const daemonUnavailable = (seconds: number, cause?: unknown) =>
  apiError(503, 'DaemonConnectionException', 'The node has not answered lately. Try again in a moment.', {
    cause,
    headers: { 'retry-after': String(seconds) },
  })

/** A failure of the node, with the status of the daemon, 502 or 504. */
export const daemonFailure = (status: number, detail: string, cause?: unknown) =>
  apiError(status, 'DaemonConnectionException', detail, { cause })

/** 502: a node sent more than the panel reads. Schedules recognize the sentence in stored rows. */
export const daemonAnswerTooLarge = (cause?: unknown) =>
  apiError(
    502,
    'DaemonAnswerTooLargeException',
    'The node gave an answer that cannot be used: it is larger than the panel accepts.',
    { cause },
  )
