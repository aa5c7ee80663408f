import { Hono } from 'hono'
import { type ClientEnv, clientCredential, clientRateLimit, reachable } from './client/env.ts'
import { server } from './client/server.ts'
import { servers } from './client/servers.ts'

/** The Client API: what people and their programs do with the servers they reach. */
export const client = new Hono<ClientEnv>()
  .basePath('/api/client')
  .use(clientCredential, clientRateLimit)
  .use('/servers/:server/*', reachable)
  .route('/', servers)
  .route('/servers/:server', server)
