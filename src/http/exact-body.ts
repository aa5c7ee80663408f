import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { badRequest } from '../errors.ts'
import type { HttpEnv } from './environment.ts'
import { type Lazy, stating } from './facts.ts'
import { bufferBody, normaliseBody } from './json-body.ts'
import { defaultBodyLimit, invalidInput } from './route.ts'
import { ruleOf } from './rules.ts'

/**
 * The JSON body must fit, its texts as they were sent: blanks are part of scripts and of what is written into
 * files. Refuses with 422 what does not fit, with 400 what no body may hold, with 413 above `limit` bytes.
 */
export function exactBody<Schema extends z.ZodType>(
  schema: Lazy<Schema>,
  limit = defaultBodyLimit,
): MiddlewareHandler<HttpEnv, string, { in: { json: z.input<Schema> }; out: { json: z.output<Schema> } }> {
  let built: Schema | null = null
  return stating({ kind: 'input', place: 'json', schema, limit }, async (c, next) => {
    built ??= schema()
    const result = built.safeParse(exactly(await bufferBody(c, limit)), { error: (issue) => ruleOf(issue) })
    if (!result.success) throw invalidInput(result.error.issues)
    c.req.addValidatedData('json', result.data as object)
    await next()
  })
}

function exactly(text: string): object {
  const value = parsed(text)
  // For what it refuses: what it trims is not wanted.
  const normalised = normaliseBody(value)
  return Array.isArray(value) || value === null ? normalised : (value as object)
}

function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    throw badRequest('The request is not valid JSON.')
  }
}
