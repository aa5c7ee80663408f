/** One refusal. `inList` is what stands for it apart from its field. */
export type ErrorEntry = {
  code: string
  detail: string
  inList?: string
  meta?: RefusalMeta & { source_field?: string; rule?: string; before?: RefusalMeta }
}
type RefusalMeta = { reason?: string; values?: Record<string, string | number> }

const sentenceOf = ({ inList, detail }: ErrorEntry) => inList ?? detail

/** A request that the panel refused, or that got no answer (`status` 0). */
export class RequestError extends Error {
  readonly status: number
  readonly entries: readonly ErrorEntry[]
  readonly requestId: string | null
  /** Seconds after which the request may be repeated, from `Retry-After`. */
  readonly retryAfter: number | null

  constructor(
    status: number,
    entries: readonly ErrorEntry[],
    requestId: string | null,
    retryAfter: number | null,
  ) {
    super(entries[0] ? sentenceOf(entries[0]) : '')
    this.name = 'RequestError'
    this.status = status
    this.entries = entries
    this.requestId = requestId
    this.retryAfter = retryAfter
  }

  /** Returns the error of a field. */
  fieldError(field: string): string | undefined {
    return this.entries.find(({ meta }) => meta?.source_field === field)?.detail
  }

  /** Returns the rule that a field broke. */
  fieldRule(field: string): string | undefined {
    return this.entries.find(({ meta }) => meta?.source_field === field)?.meta?.rule
  }

  /** Returns the errors that belong to none of these fields. */
  detailsExcept(fields: readonly string[]): string[] {
    return this.entries
      .filter(({ meta }) => meta?.source_field === undefined || !fields.includes(meta.source_field))
      .map(sentenceOf)
  }
}

export const asRequestError = (error: unknown): RequestError | null =>
  error instanceof RequestError ? error : null

type Translate = (entries: readonly ErrorEntry[]) => Promise<readonly ErrorEntry[]>

/** Reads the errors of an answer; a body that is not from the panel has none. */
export async function readRequestError(answer: Response, translate: Translate): Promise<RequestError> {
  const body = (await answer.json().catch(() => null)) as { errors?: ErrorEntry[] } | null
  const seconds = Number(answer.headers.get('retry-after'))
  return new RequestError(
    answer.status,
    await translate(Array.isArray(body?.errors) ? body.errors : []),
    answer.headers.get('x-request-id'),
    Number.isFinite(seconds) && seconds > 0 ? seconds : null,
  )
}
