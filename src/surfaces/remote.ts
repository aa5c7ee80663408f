import { Hono } from 'hono'
import { activity } from './remote/activity.ts'
import { nodeToken, type RemoteEnv } from './remote/env.ts'
import { servers } from './remote/servers.ts'

/** The Remote API: what the daemons of nodes call. Nothing here may answer 429 or redirect: they take it for final. */
export const remote = new Hono<RemoteEnv>()
  .basePath('/api/remote')
  .use(nodeToken)
  .route('/servers', servers)
  .route('/activity', activity)
