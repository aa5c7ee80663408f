import { createMiddleware } from 'hono/factory'
import type { MiddlewareHandler } from 'hono'
import type { Node } from '../../db/tables/nodes.ts'
import { identifyNode } from '../../domain/credentials.ts'
import { stating } from '../../http/facts.ts'
import type { Panel } from '../../panel.ts'

/** What handlers of this surface find: the node whose daemon calls. */
export type RemoteEnv = { Variables: { panel: Panel; node: Node } }

/** The caller is the daemon of a node. Refuses with 401, 400 and 403. Spec: Authentication, 4. */
export const nodeToken = stating(
  { kind: 'credential', name: 'node token' },
  createMiddleware<RemoteEnv>(async (c, next) => {
    const { panel } = c.var
    const node = await identifyNode(panel, c.req.header('authorization'))
    c.set('node', node)
    c.set('panel', { ...panel, actor: { kind: 'node', node } })
    await next()
  }),
)

/** A daemon reaches the servers of its node; the statements that find them see to it. */
export const ownServers: MiddlewareHandler = stating(
  { kind: 'permission', name: 'servers of the node' },
  createMiddleware(async (_c, next) => next()),
)
