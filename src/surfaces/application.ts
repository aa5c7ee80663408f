import { Hono } from 'hono'
import type { HttpEnv } from '../http/environment.ts'
import { allocations } from './application/allocations.ts'
import { applicationKey, applicationRateLimit } from './application/env.ts'
import { locations } from './application/locations.ts'
import { nests } from './application/nests.ts'
import { nodes } from './application/nodes.ts'
import { servers } from './application/servers.ts'
import { users } from './application/users.ts'

/** The Application API: what integrations of administrators call. */
export const application = new Hono<HttpEnv>()
  .basePath('/api/application')
  .use(applicationKey, applicationRateLimit)
  .route('/locations', locations)
  .route('/nests', nests)
  .route('/nodes', nodes)
  .route('/nodes', allocations)
  .route('/servers', servers)
  .route('/users', users)
