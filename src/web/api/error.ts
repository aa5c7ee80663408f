type Entry = { code: string; detail: string; meta?: { source_field: string; rule: string } }

/** A request that was refused, or that nobody answered (`status` 0). */
export class RequestError extends Error {
  readonly status: number
  readonly entries: readonly Entry[]
  readonly requestId: string | null
  /** Seconds after which it may be tried again, where the panel says so. */
  readonly retryAfter: number | null

  constructor(
    status: number,
    entries: readonly Entry[],
    requestId: string | null,
    retryAfter: number | null,
  ) {
    super(entries[0]?.detail ?? '')
    this.name = 'RequestError'
    this.status = status
    this.entries = entries
    this.requestId = requestId
    this.retryAfter = retryAfter
  }

  /** The panel's sentence about a field of the form that was sent. */
  fieldError(field: string): string | undefined {
    return this.entries.find(({ meta }) => meta?.source_field === field)?.detail
  }

  /** The rule that a field of what was sent broke. */
  brokenRule(field: string): string | undefined {
    return this.entries.find(({ meta }) => meta?.source_field === field)?.meta?.rule
  }

  /** Sentences that belong to none of these fields. */
  otherThan(fields: readonly string[]): string[] {
    return this.entries
      .filter(({ meta }) => !meta || !fields.includes(meta.source_field))
      .map(({ detail }) => detail)
  }
}

export const asRequestError = (error: unknown): RequestError | null =>
  error instanceof RequestError ? error : null

/** What a refused answer says; bodies that are none of ours say nothing. */
export async function refusalOf(answer: Response): Promise<RequestError> {
  const body = (await answer.json().catch(() => null)) as { errors?: Entry[] } | null
  const seconds = Number(answer.headers.get('retry-after'))
  return new RequestError(
    answer.status,
    Array.isArray(body?.errors) ? body.errors : [],
    answer.headers.get('x-request-id'),
    Number.isFinite(seconds) && seconds > 0 ? seconds : null,
  )
}
