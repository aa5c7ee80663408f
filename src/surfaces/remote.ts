import { Hono } from 'hono'
import { activity } from './remote/activity.ts'
import { backups } from './remote/backups.ts'
import { knownNode, nodeToken, type RemoteEnv } from './remote/middleware.ts'
import { servers } from './remote/servers.ts'
import { sftp } from './remote/sftp.ts'
import { transfers } from './remote/transfers.ts'

/**
 * The Remote API, which the daemons of nodes call. No route may redirect, and only SFTP logins may answer 429:
 * daemons treat both as final.
 */
export const remote = new Hono<RemoteEnv>()
  .basePath('/api/remote')
  .use('/activity', knownNode)
  .use(nodeToken)
  .route('/servers', servers)
  .route('/servers', transfers)
  .route('/activity', activity)
  .route('/sftp', sftp)
  .route('/backups', backups)
