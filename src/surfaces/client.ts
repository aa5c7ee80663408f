import { Hono } from 'hono'
import type { HttpEnv } from '../http/http-env.ts'
import { announcements } from './client/account/announcements.ts'
import { placedServers } from './client/account/servers.ts'
import { notifications } from './client/account/notifications.ts'
import { account } from './client/account.ts'
import { accountActivity, serverActivity } from './client/activity.ts'
import { apiKeys } from './client/api-keys.ts'
import { backups } from './client/backups.ts'
import { batchResources } from './client/batch-resources.ts'
import { commandSnippets } from './client/command-snippets.ts'
import { consoleShare } from './client/console-share.ts'
import { databases } from './client/databases.ts'
import { files } from './client/files.ts'
import {
  clientCredential,
  clientRateLimit,
  refuseAccountChangesWhileActing,
  refuseWhileActing,
  requireServerAccess,
  serverCredential,
  type ServerEnv,
  twoFactorSetupCredential,
} from './client/middleware.ts'
import { network } from './client/network.ts'
import { query } from './client/query.ts'
import { schedules } from './client/schedules.ts'
import { server } from './client/server.ts'
import { servers } from './client/servers.ts'
import { settings } from './client/settings.ts'
import { sshKeys } from './client/ssh-keys.ts'
import { startup } from './client/startup.ts'
import { statistics } from './client/statistics.ts'
import { trash } from './client/trash.ts'
import { users } from './client/users.ts'

/** The routes below one server, mounted as one app: the types of callers know the parameter `server`. */
const serverRoutes = new Hono<ServerEnv>()
  .route('/backups', backups)
  .route('/schedules', schedules)
  .route('/', server)
  .route('/activity', serverActivity)
  .route('/console', consoleShare)
  .route('/console/snippets', commandSnippets)
  .route('/databases', databases)
  .route('/files', files)
  .route('/network', network)
  .route('/query', query)
  .route('/settings', settings)
  .route('/startup', startup)
  .route('/statistics', statistics)
  .route('/trash', trash)
  .route('/users', users)

/** The Client API: what users and their programs do with their account and their servers. */
export const client = new Hono<HttpEnv>()
  .basePath('/api/client')
  // The narrow mounts come first: they identify the caller for the routes that need more, or less, than the rest.
  .use('/account', twoFactorSetupCredential)
  .use('/account/two-factor/*', twoFactorSetupCredential)
  .use('/servers/:server/*', serverCredential)
  .use(clientCredential, clientRateLimit)
  // Mounted before the routes that would take `resources` for a server.
  .route('/', batchResources)
  .use('/servers/:server/*', requireServerAccess)
  .route('/', servers)
  .use('/account/*', refuseAccountChangesWhileActing)
  .use('/account/two-factor/*', refuseWhileActing)
  .route('/account', account)
  .route('/account/activity', accountActivity)
  .route('/account/announcements', announcements)
  .route('/account/notifications', notifications)
  .route('/account/api-keys', apiKeys)
  .route('/account/servers', placedServers)
  .route('/account/ssh-keys', sshKeys)
  .route('/servers/:server', serverRoutes)
