import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { type ApiError, type Failure, invalid, notFound } from '../errors.ts'
import type { HttpEnv } from './http-env.ts'
import { declare, type LazySchema, withMetadata } from './metadata.ts'
import { defaultBodyLimit, type InputOptions, readInput, readQuery } from './input.ts'
import { normalise, type TextRule, textRuleOf } from './normalise.ts'
import { describeFailure, ruleName } from './validation-rules.ts'

// Workers forbid compiling code from text; without it all platforms behave alike.
z.config({ jitless: true })

type Input<Target extends string, Schema extends z.ZodType> = {
  in: { [K in Target]: z.input<Schema> }
  out: { [K in Target]: z.output<Schema> }
}
type InputMiddleware<Target extends string, Schema extends z.ZodType> = MiddlewareHandler<
  HttpEnv,
  string,
  Input<Target, Schema>
>

/** Says what the route does: imperative, with the name of the resource. */
export const summary = (text: string): MiddlewareHandler => declare({ kind: 'summary', text })

/**
 * Declares the successful answer. Tests check every answer against it; production does not. `textTypes` are further
 * content types that the caller can ask for, of text without a schema.
 */
export const returns = (
  status: number,
  schema: LazySchema | null = null,
  textTypes: string[] = [],
): MiddlewareHandler => declare({ kind: 'returns', status, schema, textTypes })

/** Validates the parameters of the path. Refuses with 404: what cannot exist is not found. */
export const params = <Schema extends z.ZodType>(
  schema: LazySchema<Schema>,
): InputMiddleware<'param', Schema> =>
  withMetadata({ kind: 'input', target: 'param', schema }, validateParams(schema))

/**
 * Validates the query, on `GET` with the members of a JSON body; with `preserveWhitespace` texts stay as they were
 * sent. Refuses with 422.
 */
export function query<Schema extends z.ZodType>(
  schema: LazySchema<Schema>,
  { preserveWhitespace = false }: { preserveWhitespace?: boolean } = {},
): InputMiddleware<'query', Schema> {
  let built: Schema | null = null
  return withMetadata({ kind: 'input', target: 'query', schema, preserveWhitespace }, async (c, next) => {
    built ??= schema()
    const value = await readQuery(c, preserveWhitespace ? 'exact' : undefined)
    const result = built.safeParse(value, { error: ruleName })
    if (!result.success) throw invalidInput(result.error.issues)
    c.req.addValidatedData('query', result.data as object)
    await next()
  })
}

export type BodyOptions = Pick<InputOptions, 'limit' | 'requiresBody' | 'format'> & {
  /** Takes texts as they were sent, for file names and scripts; bodies of any content type are then read as JSON. */
  preserveWhitespace?: boolean
  /** Leaves out the query: a document and a signed message are what their body says. */
  ignoresQuery?: boolean
}

/**
 * Validates the body, with the query under it; unknown keys are dropped. Texts are trimmed, unless the schema or the
 * options say otherwise. Refuses with 422, with 400 what no body may hold, and with 413 above the limit.
 */
export function body<Schema extends z.ZodType>(
  schema: LazySchema<Schema>,
  options: BodyOptions = {},
): InputMiddleware<'json', Schema> {
  const { limit = defaultBodyLimit, preserveWhitespace = false, requiresBody = false, format } = options
  const source = options.ignoresQuery ? 'body' : 'both'
  let built: { schema: Schema; rule: TextRule } | null = null
  const types = ['application/json', ...(format ? [format.type] : [])]
  const metadata = { limit, types, preserveWhitespace, requiresBody }
  return withMetadata({ kind: 'input', target: 'json', schema, ...metadata }, async (c, next) => {
    built ??= buildBodySchema(schema, preserveWhitespace)
    const value = await readInput(c, { limit, requiresBody, source, format, anyType: preserveWhitespace })
    const result = built.schema.safeParse(normalise(value, built.rule), { error: ruleName })
    if (!result.success) throw invalidInput(inOrderOf(built.schema, result.error.issues))
    c.req.addValidatedData('json', result.data as object)
    await next()
  })
}

function buildBodySchema<Schema extends z.ZodType>(schema: LazySchema<Schema>, preserveWhitespace: boolean) {
  const built = schema()
  return { schema: built, rule: preserveWhitespace ? ('exact' as const) : textRuleOf(built) }
}

type Issues = readonly z.core.$ZodIssue[]

/** Validates the parameters by a schema that is built at the first request. */
function validateParams<Schema extends z.ZodType>(
  schema: LazySchema<Schema>,
): InputMiddleware<'param', Schema> {
  let validator: InputMiddleware<'param', Schema> | null = null
  return (c, next) => {
    validator ??= zValidator('param', schema(), (result) => {
      if (!result.success) throw notFound()
    }) as unknown as InputMiddleware<'param', Schema>
    return validator(c, next)
  }
}

/** Sorts issues by the order in which the schema lists their fields: checks across fields come last otherwise. */
function inOrderOf(schema: z.ZodType, issues: Issues): Issues {
  const names = Object.keys((schema as { shape?: object }).shape ?? {})
  const placeOf = ({ path }: Issues[number]) => names.indexOf(String(path[0]))
  return issues.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** Returns the limits of an issue that are numbers, for texts that name them. */
function limitValues(limits: Record<string, unknown>): Partial<Pick<Failure, 'values'>> {
  const values = ['minimum', 'maximum'].flatMap((name) => {
    const limit = limits[name]
    return typeof limit === 'number' || typeof limit === 'bigint' ? [[name, Number(limit)] as const] : []
  })
  return values.length > 0 ? { values: Object.fromEntries(values) } : {}
}

/** 422 with one entry per issue; unknown keys are the only issue without a path of its own. */
export function invalidInput(issues: Issues): ApiError {
  return invalid(
    issues.map((issue) => {
      const field = issue.path.map(String).join('.')
      const limits = issue as { minimum?: unknown; maximum?: unknown }
      return {
        field,
        rule: issue.message,
        detail: describeFailure(field, issue.message, limits),
        ...(/^(min|max)$/.test(issue.message) ? limitValues(limits) : {}),
      }
    }),
  )
}
