import { Hono } from 'hono'
import type { HttpEnv } from '../http/http-env.ts'
import { activity } from './application/activity.ts'
import { allocations } from './application/allocations.ts'
import { announcements } from './application/announcements.ts'
import { appearance } from './application/appearance.ts'
import { bulkOperations } from './application/bulk-operations.ts'
import { databaseHosts } from './application/database-hosts.ts'
import { databases } from './application/databases.ts'
import { eggVariables } from './application/egg-variables.ts'
import { eggs, eggSources } from './application/eggs.ts'
import { jobs } from './application/jobs.ts'
import { keys } from './application/keys.ts'
import { locations } from './application/locations.ts'
import { applicationCredential, applicationRateLimit, expectedVersions } from './application/middleware.ts'
import { mounts } from './application/mounts.ts'
import { moveIn } from './application/move-in.ts'
import { nests } from './application/nests.ts'
import { nodeHealth } from './application/node-health.ts'
import { nodes } from './application/nodes.ts'
import { serverMounts } from './application/server-mounts.ts'
import { serverNotes } from './application/server-notes.ts'
import { serverStatistics } from './application/server-statistics.ts'
import { roles } from './application/roles.ts'
import { overview } from './application/overview.ts'
import { servers } from './application/servers.ts'
import { settingTests } from './application/setting-tests.ts'
import { settings } from './application/settings.ts'
import { setup } from './application/setup.ts'
import { transfers } from './application/transfers.ts'
import { userCredentials } from './application/user-credentials.ts'
import { users } from './application/users.ts'

/** The Application API, which integrations and the browsers of administrators call. */
export const application = new Hono<HttpEnv>()
  .basePath('/api/application')
  .use(applicationCredential, applicationRateLimit, expectedVersions)
  .route('/activity', activity)
  .route('/announcements', announcements)
  .route('/', bulkOperations)
  .route('/database-hosts', databaseHosts)
  .route('/jobs', jobs)
  .route('/keys', keys)
  .route('/locations', locations)
  .route('/mounts', mounts)
  .route('/move-in', moveIn)
  .route('/nests', nests)
  .route('/nests', eggs)
  .route('/eggs', eggSources)
  .route('/nests', eggVariables)
  .route('/nodes', nodes)
  .route('/nodes', nodeHealth)
  .route('/nodes', allocations)
  .route('/roles', roles)
  .route('/servers', servers)
  .route('/servers', databases)
  .route('/servers', transfers)
  .route('/servers', serverMounts)
  .route('/servers', serverNotes)
  .route('/servers', serverStatistics)
  .route('/overview', overview)
  .route('/settings', settings)
  .route('/settings', appearance)
  .route('/settings/test', settingTests)
  .route('/setup', setup)
  .route('/users', users)
  .route('/users', userCredentials)
