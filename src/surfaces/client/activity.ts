import type { Context } from 'hono'
import { Hono } from 'hono'
import { activityFilters, ActivityQuery } from '../../domain/activity/conditions.ts'
import { listAccountActivity, listServerActivity } from '../../domain/activity/list.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing, readIncludes } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { returns, summary } from '../../http/route.ts'
import { accessToServer, available, type ServerEnv, signedIn } from './middleware.ts'
import { ActivityPage, presentFeed } from './resources/activity-log.ts'

const listOptions = {
  filters: activityFilters,
  sorts: ['timestamp'],
  perPage: 25,
  maxPerPage: 100,
  schema: ActivityQuery,
}

/** Spec: getClientAccountActivity. */
export const accountActivity = new Hono<HttpEnv>().get(
  '/',
  summary('List the activity of your account'),
  signedIn,
  listing(listOptions),
  returns(200, ActivityPage),
  async (c) =>
    c.json(
      presentFeed(
        await listAccountActivity(c.var.panel, c.req.valid('query'), await includesActor(c)),
        publicUrl(c),
      ),
    ),
)

/** Spec: getClientServersByServerActivity. */
export const serverActivity = new Hono<ServerEnv>().get(
  '/',
  summary('List the activity of a server'),
  available,
  accessToServer,
  listing(listOptions),
  returns(200, ActivityPage),
  async (c) => {
    const { panel, access } = c.var
    return c.json(
      presentFeed(
        await listServerActivity(panel, access, c.req.valid('query'), await includesActor(c)),
        publicUrl(c),
      ),
    )
  },
)

const includesActor = async (c: Context) => (await readIncludes(c)).includes('actor')
