import type { Context, MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { DaemonActivityEntry } from '../../domain/activity/daemon-reports.ts'
import { invalid } from '../../errors.ts'
import { readInput } from '../../http/input.ts'
import { withMetadata } from '../../http/metadata.ts'
import { describeFailure } from '../../http/validation-rules.ts'
import { type RemoteEnv, requireNode } from './middleware.ts'

/** 5 MiB: below the smallest limit of the clouds. */
const maxBatchBytes = 5 * 1024 * 1024

const ActivityBatch = () => z.object({ data: z.array(DaemonActivityEntry()) })
type Batch = { data: unknown[] }

/**
 * Reads a batch of activity entries without validating them: a daemon resends a refused batch forever, so one bad
 * entry must not block the others. Refuses with 422 a body without a list `data`, with 400 what is not a JSON object,
 * and with 413 more than 5 MiB.
 */
export const activityBatch: MiddlewareHandler<
  RemoteEnv,
  string,
  { in: { json: Batch }; out: { json: Batch } }
> = withMetadata({ kind: 'input', target: 'json', schema: ActivityBatch }, async (c, next) => {
  const { data } = await readBatch(c).catch(async (error: unknown) => {
    // Who has no right credential any more learns only that.
    if (c.var.pair) await requireNode(c)
    throw error
  })
  c.req.addValidatedData('json', { data })
  await next()
})

async function readBatch(c: Context): Promise<Batch> {
  const { data } = await readInput(c, { limit: maxBatchBytes, anyType: true })
  if (Array.isArray(data)) return { data }
  const rule = data === undefined || data === null ? 'required' : 'array'
  throw invalid([{ field: 'data', rule, detail: describeFailure('data', rule) }])
}
