import { Hono } from 'hono'
import type { HttpEnv } from '../http/http-env.ts'
import { activity } from './application/activity.ts'
import { allocations } from './application/allocations.ts'
import { databaseHosts } from './application/database-hosts.ts'
import { databases } from './application/databases.ts'
import { eggVariables } from './application/egg-variables.ts'
import { eggs } from './application/eggs.ts'
import { jobs } from './application/jobs.ts'
import { keys } from './application/keys.ts'
import { locations } from './application/locations.ts'
import { applicationKey, applicationRateLimit } from './application/middleware.ts'
import { nests } from './application/nests.ts'
import { nodes } from './application/nodes.ts'
import { servers } from './application/servers.ts'
import { settings } from './application/settings.ts'
import { transfers } from './application/transfers.ts'
import { users } from './application/users.ts'

/** The Application API, which integrations of administrators call. */
export const application = new Hono<HttpEnv>()
  .basePath('/api/application')
  .use(applicationKey, applicationRateLimit)
  .route('/activity', activity)
  .route('/database-hosts', databaseHosts)
  .route('/jobs', jobs)
  .route('/keys', keys)
  .route('/locations', locations)
  .route('/nests', nests)
  .route('/nests', eggs)
  .route('/nests', eggVariables)
  .route('/nodes', nodes)
  .route('/nodes', allocations)
  .route('/servers', servers)
  .route('/servers', databases)
  .route('/servers', transfers)
  .route('/settings', settings)
  .route('/users', users)
