import { Hono } from 'hono'
import { readConcerns } from '../../domain/operations/overview.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { OverviewResource } from './resources/overview.ts'

/** What needs attention. Spec: docs/operations.md#overview. */
export const overview = new Hono<HttpEnv>().get(
  '/',
  summary('Show what needs attention, as far as the caller may read it'),
  acl('nodes', 'read'),
  returns(200, OverviewResource.One),
  async (c) => c.json(OverviewResource.one(await readConcerns(c.var.panel))),
)
