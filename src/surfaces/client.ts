import { Hono } from 'hono'
import { account } from './client/account.ts'
import { accountActivity, serverActivity } from './client/activity.ts'
import { apiKeys } from './client/api-keys.ts'
import { consoleShare } from './client/console-share.ts'
import { batchResources } from './client/batch-resources.ts'
import { databases } from './client/databases.ts'
import { files } from './client/files.ts'
import { network } from './client/network.ts'
import { query } from './client/query.ts'
import { backups } from './client/backups.ts'
import { type ClientEnv, clientCredential, clientRateLimit, reachable } from './client/env.ts'
import { schedules } from './client/schedules.ts'
import { server } from './client/server.ts'
import { servers } from './client/servers.ts'
import { settings } from './client/settings.ts'
import { sshKeys } from './client/ssh-keys.ts'
import { startup } from './client/startup.ts'
import { trash } from './client/trash.ts'
import { users } from './client/users.ts'

/** The Client API: what people and their programs do with the servers they reach. */
export const client = new Hono<ClientEnv>()
  .basePath('/api/client')
  .use(clientCredential, clientRateLimit)
  // Before what takes any word in this place for a server.
  .route('/', batchResources)
  .use('/servers/:server/*', reachable)
  .route('/', servers)
  .route('/account', account)
  .route('/account/activity', accountActivity)
  .route('/account/api-keys', apiKeys)
  .route('/account/ssh-keys', sshKeys)
  .route('/servers/:server/backups', backups)
  .route('/servers/:server/schedules', schedules)
  .route('/servers/:server', server)
  .route('/servers/:server/activity', serverActivity)
  .route('/servers/:server/console', consoleShare)
  .route('/servers/:server/databases', databases)
  .route('/servers/:server/files', files)
  .route('/servers/:server/network', network)
  .route('/servers/:server/query', query)
  .route('/servers/:server/settings', settings)
  .route('/servers/:server/startup', startup)
  .route('/servers/:server/trash', trash)
  .route('/servers/:server/users', users)
