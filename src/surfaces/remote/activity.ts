import { Hono } from 'hono'
import * as z from 'zod'
import { recordDaemonActivity } from '../../domain/activity/daemon-reports.ts'
import { returns, summary } from '../../http/route.ts'
import { activityBatch } from './activity-batch.ts'
import { type RemoteEnv, requireNode, serversOfNode } from './middleware.ts'

const EmptyAnswer = () => z.strictObject({})

/** Spec: docs/remote.md#activity. */
export const activity = new Hono<RemoteEnv>().post(
  '/',
  summary('Report the activity on servers of the node'),
  serversOfNode,
  activityBatch,
  returns(200, EmptyAnswer),
  async (c) => {
    const { data } = c.req.valid('json')
    const { panel, node, pair } = c.var
    if (!(await recordDaemonActivity(panel, node, data, pair))) {
      // The credential has changed since this process knows it.
      await requireNode(c)
      await recordDaemonActivity(panel, c.var.node, data, null)
    }
    return c.json({})
  },
)
