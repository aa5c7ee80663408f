/** One element of the wire's `errors` array. */
export type ErrorEntry = { code: string; detail: string; meta?: { source_field: string; rule: string } }

/** Every "no" that a caller hears. Thrown anywhere; written to the wire in one place. */
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

const refusal = (
  status: number,
  code: string,
  detail: string,
  options?: { cause?: unknown; headers?: Record<string, string> },
) => new ApiError(status, [{ code, detail }], options)

/** 400. The request cannot be honoured as it stands; `code` is what SDKs of the ecosystem compare. */
export const badRequest = (detail: string, code = 'BadRequestHttpException') => refusal(400, code, detail)

/** 400 with a sentence that is meant for the person in front of the screen. */
export const displayError = (detail: string, code = 'DisplayException') => refusal(400, code, detail)

/** 401. No credential, or none that is valid. */
export const unauthenticated = (detail = 'A valid credential is needed.') =>
  refusal(401, 'AuthenticationException', detail, { headers: { 'www-authenticate': 'Bearer' } })

/** 403. Known, but not allowed. */
export const forbidden = (detail = 'You may not do this.', code = 'AccessDeniedHttpException') =>
  refusal(403, code, detail)

/** 404. Not there, or not for this caller. */
export const notFound = (detail = 'No such resource.', code = 'NotFoundHttpException') =>
  refusal(404, code, detail)

/** 405. The path exists with another method. */
export const methodNotAllowed = (allowed: string[]) =>
  refusal(405, 'MethodNotAllowedHttpException', `This path answers to ${allowed.join(', ')} only.`, {
    headers: { allow: allowed.join(', ') },
  })

/** 409. The state of the thing does not allow it. */
export const conflict = (detail: string, code = 'ConflictHttpException') => refusal(409, code, detail)

/** 409. The server is suspended, being installed, restored or moved, or its node is in maintenance. */
export const serverStateConflict = (detail: string) => refusal(409, 'ServerStateConflictException', detail)

/** 413. More bytes than the route takes. */
export const payloadTooLarge = (limit: number) =>
  refusal(413, 'PayloadTooLargeHttpException', `The request body may hold at most ${limit} bytes.`)

/** 422. One entry per failed rule; `source_field` keeps dots, `rule` is snake_case. */
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
  retryAfter: number,
  headers: Record<string, string> = {},
  code = 'ThrottleRequestsException',
) =>
  refusal(429, code, 'Too many requests. Wait a moment and try again.', {
    headers: { 'retry-after': String(retryAfter), ...headers },
  })

/** 503 with `Retry-After`: a passing fault, worth trying again. */
export const unavailable = (detail: string, cause?: unknown) =>
  refusal(503, 'ServiceUnavailableHttpException', detail, { cause, headers: { 'retry-after': '5' } })

/** 502 when a database host said no, 504 when it gave no answer. */
export const databaseHostFailure = (status: 502 | 504, detail: string, cause?: unknown) =>
  refusal(status, 'DatabaseHostException', detail, { cause })

/** 503 with `Retry-After`: the node has not answered others, so it is not asked for a while. */
export const daemonAway = (seconds: number, cause?: unknown) =>
  refusal(503, 'DaemonConnectionException', 'The node has not answered lately. Try again in a moment.', {
    cause,
    headers: { 'retry-after': String(seconds) },
  })

/** The daemon's own status, 502 or 504: the node could not do it. */
export const daemonFailure = (status: number, detail: string, cause?: unknown) =>
  refusal(status, 'DaemonConnectionException', detail, { cause })
