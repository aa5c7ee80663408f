import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { invalid, notFound } from '../errors.ts'
import { type Lazy, stating } from './facts.ts'
import type { HttpEnv } from './environment.ts'
import { bufferBody, normaliseBody } from './json-body.ts'
import { parseExactQuery, parseQuery } from './query-string.ts'
import { describeFailure, ruleOf } from './rules.ts'

// Workers forbid compiling code from text; without it all platforms behave alike.
z.config({ jitless: true })

/** Bytes of a JSON body unless a route says otherwise. */
export const defaultBodyLimit = 256 * 1024

type Input<Place extends string, Schema extends z.ZodType> = {
  in: { [K in Place]: z.input<Schema> }
  out: { [K in Place]: z.output<Schema> }
}
type Word<Place extends string, Schema extends z.ZodType> = MiddlewareHandler<
  HttpEnv,
  string,
  Input<Place, Schema>
>

/** What the route does, in a few words. */
export const summary = (text: string): MiddlewareHandler => stating({ kind: 'summary', text }, pass())

/** States the success answer. Tests hold every answer to it; production does not pay for that. */
export const returns = (status: number, schema: Lazy | null = null): MiddlewareHandler =>
  stating({ kind: 'returns', status, schema }, pass())

/** The parts of the path must fit. Refuses with 404: what cannot exist is not found. */
export const params = <Schema extends z.ZodType>(schema: Lazy<Schema>): Word<'param', Schema> =>
  stating(
    { kind: 'input', place: 'param', schema },
    validating(
      'param',
      schema,
      (value) => value,
      () => notFound(),
    ),
  )

/** The query must fit. Refuses with 422. */
export const query = <Schema extends z.ZodType>(schema: Lazy<Schema>): Word<'query', Schema> =>
  stating({ kind: 'input', place: 'query', schema }, validating('query', schema, parseQuery, invalidInput))

/** The same for names of files, whose blanks are part of them. Refuses with 422. */
export const exactQuery = <Schema extends z.ZodType>(schema: Lazy<Schema>): Word<'query', Schema> =>
  stating(
    { kind: 'input', place: 'query', schema },
    validating('query', schema, parseExactQuery, invalidInput),
  )

/** The JSON body must fit; unknown keys are dropped. Refuses with 422, with 413 above `limit` bytes. */
export const body = <Schema extends z.ZodType>(
  schema: Lazy<Schema>,
  limit = defaultBodyLimit,
): Word<'json', Schema> => {
  const validator = validating('json', schema, normaliseBody, invalidInput)
  return stating({ kind: 'input', place: 'json', schema, limit }, async (c, next) => {
    await bufferBody(c, limit)
    return validator(c, next)
  })
}

/** A new one for each fact: the fact hangs on it. */
const pass = (): MiddlewareHandler => async (_c, next) => next()

type Issues = readonly z.core.$ZodIssue[]

/** zod-validator for a schema that is built at the first request, with the ecosystem's names of rules as messages. */
function validating<Place extends 'param' | 'query' | 'json', Schema extends z.ZodType>(
  place: Place,
  schema: Lazy<Schema>,
  prepare: (value: unknown) => unknown,
  refuse: (issues: Issues) => Error,
): Word<Place, Schema> {
  let validator: Word<Place, Schema> | null = null
  return (c, next) => {
    validator ??= zValidator(
      place,
      schema(),
      (result) => {
        if (!result.success) throw refuse(result.error.issues as Issues)
      },
      {
        validationFunction: (built, value) =>
          (built as z.ZodType).safeParse(prepare(value), { error: (issue) => ruleOf(issue) }) as never,
      },
    ) as unknown as Word<Place, Schema>
    return validator(c, next)
  }
}

/** 422 with one entry per issue; unknown keys are the only issue without a path of its own. */
export function invalidInput(issues: Issues): Error {
  return invalid(
    issues.map((issue) => {
      const field = issue.path.map(String).join('.')
      const limits = issue as { minimum?: unknown; maximum?: unknown }
      return { field, rule: issue.message, detail: describeFailure(field, issue.message, limits) }
    }),
  )
}
