import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { askNodeNow } from '../../domain/heartbeats/check-nodes.ts'
import { findHeartbeat } from '../../domain/heartbeats/heartbeats.ts'
import { readNodeStatistics, StatisticsQuery } from '../../domain/heartbeats/statistics.ts'
import { diagnoseNode } from '../../domain/nodes/doctor.ts'
import { createOwnConfigureCommand } from '../../domain/nodes/configure-command.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { params, query, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { ConfigureCommandResource } from './resources/configure-command.ts'
import { NodeDoctorResource } from './resources/node-doctor.ts'
import { NodeHeartbeatResource } from './resources/node-heartbeat.ts'
import { NodeStatisticsResource } from './resources/statistics.ts'

const NodeParams = () => z.object({ node: pathId() })

/** How a node is: nothing here waits for it, but for the doctor. Spec: docs/nodes.md#heartbeats. */
export const nodeHealth = new Hono<HttpEnv>()
  .get(
    '/:node/heartbeat',
    summary('Show the last heartbeat of a node'),
    acl('nodes', 'read'),
    params(NodeParams),
    returns(200, NodeHeartbeatResource.One),
    async (c) => {
      const heartbeat = await findHeartbeat(c.var.panel, c.req.valid('param').node)
      return c.json(NodeHeartbeatResource.one(heartbeat))
    },
  )

  .post(
    '/:node/heartbeat',
    summary('Ask a node at once, and show its heartbeat'),
    acl('nodes', 'read'),
    params(NodeParams),
    returns(200, NodeHeartbeatResource.One),
    async (c) => {
      const { panel } = c.var
      const { node } = c.req.valid('param')
      await askNodeNow(panel, node)
      return c.json(NodeHeartbeatResource.one(await findHeartbeat(panel, node)))
    },
  )

  .post(
    '/:node/configure-command',
    summary('Create a command that configures the daemon of a node'),
    acl('nodes', 'write'),
    params(NodeParams),
    returns(200, ConfigureCommandResource.One),
    async (c) => {
      const created = await createOwnConfigureCommand(c.var.panel, c.req.valid('param').node)
      return c.json(ConfigureCommandResource.one(created))
    },
  )

  .get(
    '/:node/doctor',
    summary('Explain what is wrong with a node'),
    acl('nodes', 'read'),
    params(NodeParams),
    returns(200, NodeDoctorResource.One),
    async (c) => c.json(NodeDoctorResource.one(await diagnoseNode(c.var.panel, c.req.valid('param').node))),
  )

  .get(
    '/:node/statistics',
    summary('Show the usage of a node over time'),
    acl('nodes', 'read'),
    params(NodeParams),
    query(StatisticsQuery),
    returns(200, NodeStatisticsResource.One),
    async (c) => {
      const { node } = c.req.valid('param')
      const found = await readNodeStatistics(c.var.panel, node, c.req.valid('query').period)
      return c.json(NodeStatisticsResource.one(found))
    },
  )
