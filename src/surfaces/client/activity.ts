import type { Context } from 'hono'
import { Hono } from 'hono'
import { activityFilters, ActivityQuery } from '../../domain/activity/conditions.ts'
import { accountActivityColumn, serverActivityColumn, toActivityFeed } from '../../domain/activity/list.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { readQuery } from '../../http/input.ts'
import { answerJson } from '../../http/json-text.ts'
import { listing, listingReader, readIncludes } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { returns, summary } from '../../http/route.ts'
import type { Panel } from '../../panel.ts'
import { accessToServer, available, reads, readsOfServer, type ServerEnv, signedIn } from './middleware.ts'
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
  reads(async (c) =>
    accountActivityColumn(panelOf(c), readRequest(await readQuery(c)), await includesActor(c)),
  ),
  returns(200, ActivityPage),
  (c) =>
    answerJson(
      c,
      presentFeed(toActivityFeed(c.get('panel'), c.get('data'), c.req.valid('query')), publicUrl(c)),
    ),
)

/** Spec: getClientServersByServerActivity. */
export const serverActivity = new Hono<ServerEnv>().get(
  '/',
  summary('List the activity of a server'),
  available,
  accessToServer,
  listing(listOptions),
  readsOfServer(async (c) =>
    serverActivityColumn(panelOf(c), readRequest(await readQuery(c)), await includesActor(c)),
  ),
  returns(200, ActivityPage),
  (c) => {
    const { permissions } = c.get('access')
    const feed = toActivityFeed(c.get('panel'), c.get('data'), c.req.valid('query'), permissions)
    return answerJson(c, presentFeed(feed, publicUrl(c)))
  },
)

const readRequest = listingReader(listOptions)
const panelOf = (c: Context) => c.get('panel') as Panel

const includesActor = async (c: Context) => (await readIncludes(c)).includes('actor')
