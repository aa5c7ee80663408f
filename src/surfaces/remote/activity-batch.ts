import type { MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { ReportedEntry } from '../../domain/activity-reports.ts'
import { badRequest, invalid } from '../../errors.ts'
import { stating } from '../../http/facts.ts'
import { readText } from '../../http/json-body.ts'
import { describeFailure } from '../../http/rules.ts'
import type { RemoteEnv } from './env.ts'

/** Bytes: less than the smallest limit of the clouds. */
const batchLimit = 5 * 1024 * 1024

const ActivityBatch = () => z.object({ data: z.array(ReportedEntry()) })
type Batch = { data: unknown[] }

/**
 * A batch of a daemon's entries, each still unchecked: the daemon sends a refused batch again for ever, so
 * that one bad entry must not spoil the others. Refuses with 422 a body without a list `data`, with 400 what
 * is no JSON, with 413 more than 5 MiB.
 */
export const activityBatch: MiddlewareHandler<
  RemoteEnv,
  string,
  { in: { json: Batch }; out: { json: Batch } }
> = stating({ kind: 'input', place: 'json', schema: ActivityBatch }, async (c, next) => {
  const data = dataOf(parsed(await readText(c.req.raw, batchLimit)))
  if (!Array.isArray(data)) {
    const rule = data === undefined || data === null ? 'required' : 'array'
    throw invalid([{ field: 'data', rule, detail: describeFailure('data', rule) }])
  }
  c.req.addValidatedData('json', { data })
  await next()
})

function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? null : JSON.parse(text)
  } catch {
    throw badRequest('The request is not valid JSON.')
  }
}

const dataOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, 'data')
    ? (body as { data: unknown }).data
    : undefined
