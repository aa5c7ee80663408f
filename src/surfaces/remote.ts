import { Hono } from 'hono'
import { activity } from './remote/activity.ts'
import { backups } from './remote/backups.ts'
import { nodeToken, type RemoteEnv } from './remote/env.ts'
import { servers } from './remote/servers.ts'
import { transfers } from './remote/transfers.ts'
import { sftp } from './remote/sftp.ts'

/**
 * The Remote API: what the daemons of nodes call. Nothing here may redirect, or answer 429 but to logins over
 * SFTP: they take it for final.
 */
export const remote = new Hono<RemoteEnv>()
  .basePath('/api/remote')
  .use(nodeToken)
  .route('/servers', servers)
  .route('/servers', transfers)
  .route('/activity', activity)
  .route('/sftp', sftp)
  .route('/backups', backups)
