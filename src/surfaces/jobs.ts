import { Hono } from 'hono'
import * as z from 'zod'
import { jobHandlers } from '../domain/jobs/handlers.ts'
import { runJob } from '../domain/jobs/run.ts'
import { runTick } from '../domain/jobs/tick.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { body, returns, summary } from '../http/route.ts'
import { anySignedMessage, queueSignature } from './jobs/middleware.ts'

const JobMessage = () => z.object({ job: z.uuid('uuid') })
const Outcome = () => z.object({ outcome: z.enum(['done', 'failed', 'not due']) })
const TickAnswer = () =>
  z.object({
    parts: z.array(z.object({ part: z.string(), count: z.int(), milliseconds: z.int() })),
  })

/** The routes that the queue calls. A message only wakes: the database decides what is due. */
export const jobs = new Hono<HttpEnv>()
  .basePath('/jobs')
  .use(queueSignature)
  .post(
    '/run',
    summary('Run a job'),
    anySignedMessage,
    body(JobMessage, { ignoresQuery: true }),
    returns(200, Outcome),
    async (c) => {
      const outcome = await runJob(c.var.panel, c.req.valid('json').job, jobHandlers)
      return c.json({ outcome })
    },
  )
  .post('/tick', summary('Run the minute tick'), anySignedMessage, returns(200, TickAnswer), async (c) =>
    c.json({ parts: await runTick(c.var.panel) }),
  )
