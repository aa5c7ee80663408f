import { Hono } from 'hono'
import * as z from 'zod'
import { discardJob, jobFilters, listJobs, retryJob } from '../../domain/dead-letters.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { params, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { JobResource } from './resources/job.ts'

const ById = () => z.object({ job: z.uuid() })
const List = { filters: jobFilters, perPage: 50, mostPerPage: 500 }

/** Work that goes on behind requests, and what was given up of it. */
export const jobs = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List jobs: those that wait, then the others, the last to end first'),
    acl('jobs', 'read'),
    listing(List),
    returns(200, JobResource.Page),
    async (c) => {
      const page = await listJobs(c.var.panel, c.req.valid('query'))
      return c.json(JobResource.page(page, publicUrl(c)))
    },
  )

  .post(
    '/:job/retry',
    summary('Try a job again that was given up, or waits for its next try'),
    acl('jobs', 'write'),
    params(ById),
    returns(200, JobResource.One),
    async (c) => c.json(JobResource.one(await retryJob(c.var.panel, c.req.valid('param').job))),
  )

  .delete(
    '/:job',
    summary('Forget a job that was given up, or waits for its next try'),
    acl('jobs', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await discardJob(c.var.panel, c.req.valid('param').job)
      return c.body(null, 204)
    },
  )
