import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Node } from '../../db/tables/nodes.ts'
import { authenticateNode, readForNode } from '../../domain/auth/credentials.ts'
import { findKnownNode, type KnownPair } from '../../domain/auth/known-nodes.ts'
import { declarePermission, withMetadata } from '../../http/metadata.ts'
import { keepRouteData, plannedColumn, routeData } from '../../http/route-data.ts'
import type { Panel } from '../../panel.ts'

/** What handlers of the Remote API find: the node whose daemon calls, and its pair where that is still to be checked. */
export type RemoteEnv = { Variables: { panel: Panel; node: Node; pair: KnownPair | null } }

/**
 * Leaves the credential of a `POST` to the statement of its route when this process knows the node and its secret. The route writes
 * only with the pair, and calls `requireNode` before it refuses anything itself.
 */
export const knownNode = createMiddleware<RemoteEnv>(async (c, next) => {
  const isReport = c.req.method === 'POST'
  const known = isReport ? await findKnownNode(c.var.panel, c.req.header('authorization')) : null
  if (known) setNode(c, known.node, known.pair)
  await next()
})

/** Requires the token of a node. Refuses with 401, 400 and 403. Spec: docs/api.md#node-credentials. */
export const nodeToken = withMetadata(
  { kind: 'credential', name: 'node token' },
  createMiddleware<RemoteEnv>(async (c, next) => {
    if (!c.var.pair) await requireNode(c)
    await next()
  }),
)

/** Authenticates the node by a statement. Refuses with 401, 400 and 403. */
export async function requireNode(c: Context<RemoteEnv>): Promise<void> {
  const column = await plannedColumn(c)
  const { node, data } = await authenticateNode(c.var.panel, c.req.header('authorization'), column)
  keepRouteData(c, column, data)
  setNode(c, node, null)
}

function setNode(c: Context<RemoteEnv>, node: Node, pair: KnownPair | null): void {
  c.set('node', node)
  c.set('pair', pair)
  c.set('panel', { ...c.var.panel, actor: { kind: 'node', node } })
}

/** Declares what the route reads in the statement of the token, over the node (`nodes`). */
export const reads = routeData<RemoteEnv>((c, column) => readForNode(c.var.panel, c.var.node, column))

/** Declares that a daemon may act on the servers of its node; the statements that find them ensure it. */
export const serversOfNode = declarePermission('servers of the node')
