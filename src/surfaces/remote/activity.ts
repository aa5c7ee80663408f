import { Hono } from 'hono'
import * as z from 'zod'
import { recordReports } from '../../domain/node-activity.ts'
import { returns, summary } from '../../http/route.ts'
import { activityBatch } from './activity-batch.ts'
import { ownServers, type RemoteEnv } from './env.ts'

const Nothing = () => z.strictObject({})

/** Spec: Remote API, activity. */
export const activity = new Hono<RemoteEnv>().post(
  '/',
  summary('Report what happened on servers of the node'),
  ownServers,
  activityBatch,
  returns(200, Nothing),
  async (c) => {
    await recordReports(c.var.panel, c.var.node, c.req.valid('json').data)
    return c.json({})
  },
)
