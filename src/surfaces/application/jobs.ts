import { Hono } from 'hono'
import * as z from 'zod'
import { discardJob, jobFilters, listJobs, retryJob } from '../../domain/jobs/manage.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { JobResource } from './resources/job.ts'

const JobParams = () => z.object({ job: z.uuid() })
const listOptions = { filters: jobFilters, perPage: 50, maxPerPage: 500 }

/** Background jobs: pending, done and abandoned ones. */
export const jobs = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List jobs: pending ones, then the others by the time they ended'),
    acl('jobs', 'read'),
    listing(listOptions),
    returns(200, JobResource.Page),
    async (c) => {
      const page = await listJobs(c.var.panel, c.req.valid('query'))
      return c.json(JobResource.page(page, publicUrl(c)))
    },
  )

  .post(
    '/:job/retry',
    summary('Retry a job that is dead or waits for its next attempt'),
    acl('jobs', 'write'),
    params(JobParams),
    returns(200, JobResource.One),
    async (c) => c.json(JobResource.one(await retryJob(c.var.panel, c.req.valid('param').job))),
  )

  .delete(
    '/:job',
    summary('Discard a job that is dead or waits for its next attempt'),
    acl('jobs', 'write'),
    params(JobParams),
    returns(204),
    async (c) => {
      await discardJob(c.var.panel, c.req.valid('param').job)
      return c.body(null, 204)
    },
  )
