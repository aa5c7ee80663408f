import { Hono } from 'hono'
import * as z from 'zod'
import { recordDaemonActivity } from '../../domain/activity/daemon-reports.ts'
import { returns, summary } from '../../http/route.ts'
import { activityBatch } from './activity-batch.ts'
import { type RemoteEnv, serversOfNode } from './middleware.ts'

const EmptyAnswer = () => z.strictObject({})

/** Spec: docs/remote.md#activity. */
export const activity = new Hono<RemoteEnv>().post(
  '/',
  summary('Report the activity on servers of the node'),
  serversOfNode,
  activityBatch,
  returns(200, EmptyAnswer),
  async (c) => {
    await recordDaemonActivity(c.var.panel, c.var.node, c.req.valid('json').data)
    return c.json({})
  },
)
