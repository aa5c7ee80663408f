import { Hono } from 'hono'
import type { HttpEnv } from '../http/environment.ts'
import { applicationKey, applicationRateLimit } from './application/env.ts'
import { locations } from './application/locations.ts'

/** The Application API: what integrations of administrators call. */
export const application = new Hono<HttpEnv>()
  .basePath('/api/application')
  .use(applicationKey, applicationRateLimit)
  .route('/locations', locations)
