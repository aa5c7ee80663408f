import { createMiddleware } from 'hono/factory'
import type { Node } from '../../db/tables/nodes.ts'
import { authenticateNode, readForNode } from '../../domain/auth/credentials.ts'
import { declarePermission, withMetadata } from '../../http/metadata.ts'
import { keepRouteData, plannedColumn, routeData } from '../../http/route-data.ts'
import type { Panel } from '../../panel.ts'

/** What handlers of the Remote API find: the node whose daemon calls. */
export type RemoteEnv = { Variables: { panel: Panel; node: Node } }

/** Requires the token of a node. Refuses with 401, 400 and 403. Spec: docs/api.md#node-credentials. */
export const nodeToken = withMetadata(
  { kind: 'credential', name: 'node token' },
  createMiddleware<RemoteEnv>(async (c, next) => {
    const { panel } = c.var
    const column = await plannedColumn(c)
    const { node, data } = await authenticateNode(panel, c.req.header('authorization'), column)
    keepRouteData(c, column, data)
    c.set('node', node)
    c.set('panel', { ...panel, actor: { kind: 'node', node } })
    await next()
  }),
)

/** Declares what the route reads in the statement of the token, over the node (`nodes`). */
export const reads = routeData<RemoteEnv>((c, column) => readForNode(c.var.panel, c.var.node, column))

/** Declares that a daemon may act on the servers of its node; the statements that find them ensure it. */
export const serversOfNode = declarePermission('servers of the node')
