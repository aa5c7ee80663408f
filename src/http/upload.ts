import type { Context, MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { ApiError, badRequest, invalid } from '../errors.ts'
import type { HttpEnv } from './environment.ts'
import { stating } from './facts.ts'
import { readBytes } from './json-body.ts'
import { invalidInput } from './route.ts'
import { describeFailure, ruleOf } from './rules.ts'

/** Bytes around a file: boundaries, headers, small fields that nobody asks for. */
const wrapping = 64 * 1024

type Form<Field extends string> = { form: Record<Field, File> }

/**
 * The file that was sent as this field of a multipart body, of at most `limit` bytes; what it says of itself
 * is not believed. Refuses with 422 without one and above the limit, reading no further, and with 400 what is
 * no multipart body though it says so.
 */
export function upload<Field extends string>(
  field: Field,
  limit: number,
): MiddlewareHandler<HttpEnv, string, { in: Form<Field>; out: Form<Field> }> {
  const schema = () => z.object({ [field]: z.file().min(1, 'required').max(limit, 'max') })
  return stating({ kind: 'input', place: 'form', schema, limit }, async (c, next) => {
    const fields = await readForm(c, limit + wrapping).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 413) throw error
      throw invalid([{ field, rule: 'max', detail: describeFailure(field, 'max', { maximum: limit }) }])
    })
    const result = schema().safeParse(fields, { error: (issue) => ruleOf(issue) })
    if (!result.success) throw invalidInput(result.error.issues)
    c.req.addValidatedData('form', result.data)
    await next()
  })
}

/** The fields of a multipart body by name; any other body has none. Refuses with 413 above `limit` bytes. */
async function readForm(c: Context, limit: number): Promise<Record<string, unknown>> {
  const type = c.req.header('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) return {}
  const bytes = await readBytes(c.req.raw, limit)
  try {
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
    return Object.fromEntries(form)
  } catch {
    throw badRequest('The request is not a valid multipart body.')
  }
}
