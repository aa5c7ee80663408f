import type refusals from './locales/en/refusals.json'

/** Why something is refused: the name of a text that the browser has in every language. */
export type Reason = keyof typeof refusals.reason

/** What the text of a reason names. */
export type ReasonValues = Readonly<Record<string, string | number>>

/** One element of `errors` in a response. Spec: docs/api.md#errors */
export type ErrorEntry = {
  code: string
  detail: string
  meta: {
    source_field?: string
    rule?: string
    reason?: Reason
    values?: ReasonValues
    /** What was done before something failed; the detail begins with it. */
    before?: { reason: Reason; values: ReasonValues }
  }
}

/** A rule that a field broke; the reason says more than the rule does. */
export type Failure = {
  field: string
  rule: string
  detail: string
  reason?: Reason
  values?: ReasonValues
}

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

/** Builds an error with one entry. */
const apiError = (
  status: number,
  { code, reason, detail, values }: { code: string; reason: Reason; detail: string } & RefusalOptions,
  options?: { cause?: unknown; headers?: Record<string, string> },
) => new ApiError(status, [{ code, detail, meta: { reason, ...(values ? { values } : {}) } }], options)

/** `values` are those that the detail names. */
type RefusalOptions = { values?: ReasonValues }
/** Clients compare `code`. */
type CodedOptions = RefusalOptions & { code?: string }

/** 400: the request cannot be processed. */
export const badRequest = (reason: Reason, detail: string, options: CodedOptions = {}) =>
  apiError(400, { reason, detail, ...options, code: options.code ?? 'BadRequestHttpException' })

/** 400 with a sentence that clients show to the user. */
export const displayError = (reason: Reason, detail: string, options: CodedOptions = {}) =>
  apiError(400, { reason, detail, ...options, code: options.code ?? 'DisplayException' })

/** 401: the credential is missing or invalid. */
export const unauthenticated = (
  reason: Reason = 'unauthenticated',
  detail = 'A valid credential is required.',
) =>
  apiError(
    401,
    { code: 'AuthenticationException', reason, detail },
    { headers: { 'www-authenticate': 'Bearer' } },
  )

/** 403: the caller is authenticated, but lacks a permission. */
export const forbidden = (
  reason: Reason = 'forbidden',
  detail = 'You do not have permission to do this.',
  options: CodedOptions = {},
) => apiError(403, { reason, detail, ...options, code: options.code ?? 'AccessDeniedHttpException' })

/** 404: the resource does not exist, or the caller may not see it. */
export const notFound = (
  reason: Reason = 'not_found',
  detail = 'The resource was not found.',
  options: CodedOptions = {},
) => apiError(404, { reason, detail, ...options, code: options.code ?? 'NotFoundHttpException' })

/** 405: the path exists with other methods. */
export const methodNotAllowed = (allowed: string[]) => {
  const methods = allowed.join(', ')
  const detail = `This path supports ${methods} only.`
  return apiError(
    405,
    { code: 'MethodNotAllowedHttpException', reason: 'method_not_allowed', detail, values: { methods } },
    { headers: { allow: methods } },
  )
}

/** 400: the client closed the connection before the end of its body. */
export const incompleteBody = (cause?: unknown) => {
  const detail = 'The request body ended before its end was sent.'
  return apiError(400, { code: 'IncompleteBodyException', reason: 'body_incomplete', detail }, { cause })
}

/** 408: the body came too slowly. The rest of it is not read, so the connection is closed. */
export const requestTimeout = () => {
  const detail = 'The request body was sent too slowly.'
  return apiError(
    408,
    { code: 'RequestTimeoutHttpException', reason: 'body_too_slow', detail },
    { headers: { connection: 'close' } },
  )
}

/** 409: the state of the resource does not allow it. */
export const conflict = (reason: Reason, detail: string, options: CodedOptions = {}) =>
  apiError(409, { reason, detail, ...options, code: options.code ?? 'ConflictHttpException' })

/** 409: the server is suspended, being installed, restored or transferred, or its node is under maintenance. */
export const serverStateConflict = (reason: Reason, detail: string) =>
  conflict(reason, detail, { code: 'ServerStateConflictException' })

/** 412: the resource is not the version that the request was made for. */
export const preconditionFailed = () => {
  const detail = 'The resource has been changed meanwhile. Load it again.'
  return apiError(412, { code: 'PreconditionFailedHttpException', reason: 'changed_meanwhile', detail })
}

/** 413: the body is larger than `limit` bytes. */
export const payloadTooLarge = (limit: number) => {
  const detail = `The request body must not be larger than ${limit} bytes.`
  const values = { max: limit }
  return apiError(413, { code: 'PayloadTooLargeHttpException', reason: 'body_too_large', detail, values })
}

/** 422 with one entry per failed rule; `source_field` keeps dots, `rule` is snake_case. */
export const invalid = (failures: Failure[]) =>
  new ApiError(
    422,
    failures.map(({ field, rule, detail, reason, values }) => ({
      code: 'ValidationException',
      detail,
      meta: { source_field: field, rule, ...(reason ? { reason } : {}), ...(values ? { values } : {}) },
    })),
  )

/** 429 with `Retry-After`. */
export const tooManyRequests = (
  retryAfterSeconds: number,
  headers: Record<string, string> = {},
  code = 'ThrottleRequestsException',
) => {
  const detail = 'Too many requests. Wait a moment and try again.'
  return apiError(
    429,
    { code, reason: 'too_many_requests', detail },
    { headers: { 'retry-after': String(retryAfterSeconds), ...headers } },
  )
}

/** 507 with `Retry-After`: the disk of the panel or of its database is full. Reading still works. */
export const storageFull = (cause?: unknown) => {
  const detail = 'The panel has no disk space left, so nothing was changed. Its operator has to free some.'
  return apiError(
    507,
    { code: 'InsufficientStorageHttpException', reason: 'panel_disk_full', detail },
    { cause, headers: { 'retry-after': '30' } },
  )
}

/** 503 with `Retry-After`: a temporary failure. */
export const unavailable = (
  reason: Reason,
  detail: string,
  { cause, ...options }: RefusalOptions & { cause?: unknown } = {},
) =>
  apiError(
    503,
    { code: 'ServiceUnavailableHttpException', reason, detail, ...options },
    { cause, headers: { 'retry-after': '5' } },
  )

/** 503 with `Retry-After`: more is asked than this process does at once. Logged once a minute. */
export const overloaded = (reason: Reason, detail: string) =>
  apiError(503, { code: 'ServiceOverloadedException', reason, detail }, { headers: { 'retry-after': '5' } })

/** 502 when a database host refused, 504 when it did not answer. */
export const databaseHostFailure = (
  status: 502 | 504,
  reason: Reason,
  detail: string,
  { cause, ...options }: RefusalOptions & { cause?: unknown } = {},
) => apiError(status, { code: 'DatabaseHostException', reason, detail, ...options }, { cause })

/** 503 with `Retry-After`: the circuit breaker of the node is open. Schedules recognize the sentence in stored rows. */
export const daemonUnavailable = (seconds: number, cause?: unknown) => {
  const detail = 'The node has not answered lately. Try again in a moment.'
  return apiError(
    503,
    { code: 'DaemonConnectionException', reason: 'node_away', detail },
    { cause, headers: { 'retry-after': String(seconds) } },
  )
}

/** A failure of the node, with the status of the daemon, 502 or 504. */
export const daemonFailure = (
  status: number,
  reason: Reason,
  detail: string,
  { cause, ...options }: RefusalOptions & { cause?: unknown } = {},
) => apiError(status, { code: 'DaemonConnectionException', reason, detail, ...options }, { cause })

/** 502: a node sent more than the panel reads. Schedules recognize the sentence in stored rows. */
export const daemonAnswerTooLarge = (cause?: unknown) => {
  const detail = 'The node gave an answer that cannot be used: it is larger than the panel accepts.'
  return apiError(
    502,
    { code: 'DaemonAnswerTooLargeException', reason: 'node_answer_too_large', detail },
    { cause },
  )
}

/** 500: nothing is known of it but what the log says. */
export const unexpectedError = () => {
  const detail = 'An unexpected error occurred. Include the request ID when you ask for help.'
  return apiError(500, { code: 'InternalServerError', reason: 'unexpected_error', detail })
}
