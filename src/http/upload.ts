import type { Context, MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { filePace } from '../body-pace.ts'
import { ApiError, invalid } from '../errors.ts'
import type { HttpEnv } from './http-env.ts'
import { parseMultipart } from './input.ts'
import { withMetadata } from './metadata.ts'
import { readBytes } from './request-body.ts'
import { invalidInput } from './route.ts'
import { describeFailure, ruleName } from './validation-rules.ts'

/** Bytes around a file in a multipart body: boundaries, headers, small fields. */
const multipartOverheadBytes = 64 * 1024

type Form<Field extends string> = { form: Record<Field, File> }

/**
 * Reads the file in this field of a multipart body; its declared name and type are not trusted. Refuses with 422 a
 * missing file and one above `limit` bytes, reading no further, and with 400 an invalid multipart body.
 */
export function upload<Field extends string>(
  field: Field,
  limit: number,
): MiddlewareHandler<HttpEnv, string, { in: Form<Field>; out: Form<Field> }> {
  const schema = () => z.object({ [field]: z.file().min(1, 'required').max(limit, 'max') })
  return withMetadata({ kind: 'input', target: 'form', schema, limit }, async (c, next) => {
    const fields = await readForm(c, limit + multipartOverheadBytes).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 413) throw error
      const limits = { maximum: limit }
      throw invalid([{ field, rule: 'max', detail: describeFailure(field, 'max', limits), values: limits }])
    })
    const result = schema().safeParse(fields, { error: (issue) => ruleName(issue) })
    if (!result.success) throw invalidInput(result.error.issues)
    c.req.addValidatedData('form', result.data)
    await next()
  })
}

/** Reads the fields of a multipart body by name; other bodies have none. Refuses with 413 above `limit` bytes. */
async function readForm(c: Context, limit: number): Promise<Record<string, unknown>> {
  const type = c.req.header('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) return {}
  return Object.fromEntries(await parseMultipart(await readBytes(c.req.raw, limit, filePace), type))
}
