import { Hono } from 'hono'
import * as z from 'zod'
import { jobHandlers } from '../domain/job-handlers.ts'
import { runJob } from '../domain/jobs.ts'
import { tick } from '../domain/tick.ts'
import type { HttpEnv } from '../http/environment.ts'
import { body, returns, summary } from '../http/route.ts'
import { anyMessage, queueSignature } from './jobs/env.ts'

const Message = () => z.object({ job: z.uuid('uuid') })
const Outcome = () => z.object({ outcome: z.enum(['done', 'failed', 'not due']) })
const Ticked = () =>
  z.object({
    parts: z.array(z.object({ part: z.string(), count: z.int(), milliseconds: z.int() })),
  })

/** The queue's door. A message only wakes: whether anything is due, the database decides. */
export const jobs = new Hono<HttpEnv>()
  .basePath('/jobs')
  .use(queueSignature)
  .post('/run', summary('Run one job'), anyMessage, body(Message), returns(200, Outcome), async (c) => {
    const outcome = await runJob(c.var.panel, c.req.valid('json').job, jobHandlers)
    return c.json({ outcome })
  })
  .post('/tick', summary('Run whatever is due'), anyMessage, returns(200, Ticked), async (c) =>
    c.json({ parts: await tick(c.var.panel) }),
  )
