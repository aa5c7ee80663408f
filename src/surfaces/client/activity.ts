import type { Context } from 'hono'
import { Hono } from 'hono'
import { accountFeed, feedFilters, FeedQuery, serverFeed } from '../../domain/activity-feed.ts'
import { listing, readIncludes } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { parseQuery } from '../../http/query-string.ts'
import { returns, summary } from '../../http/route.ts'
import { access, available, type ClientEnv, type ServerEnv, signedIn } from './env.ts'
import { ActivityPage, presentFeed } from './resources/activity-log.ts'

const List = { filters: feedFilters, sorts: ['timestamp'], perPage: 25, mostPerPage: 100, schema: FeedQuery }

/** Spec: Client API, account: activity. */
export const accountActivity = new Hono<ClientEnv>().get(
  '/',
  summary('List what happened to your account'),
  signedIn,
  listing(List),
  returns(200, ActivityPage),
  async (c) =>
    c.json(presentFeed(await accountFeed(c.var.panel, c.req.valid('query'), asksForActor(c)), publicUrl(c))),
)

/** Spec: Client API, server control: activity. */
export const serverActivity = new Hono<ServerEnv>().get(
  '/',
  summary('List what happened to a server'),
  available,
  access,
  listing(List),
  returns(200, ActivityPage),
  async (c) => {
    const { panel, reached } = c.var
    return c.json(
      presentFeed(await serverFeed(panel, reached, c.req.valid('query'), asksForActor(c)), publicUrl(c)),
    )
  },
)

const asksForActor = (c: Context) => readIncludes(parseQuery(c.req.queries()).include).includes('actor')
