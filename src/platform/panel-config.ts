import type { PanelConfig } from '../panel.ts'
import type { Env } from './env.ts'
import { isMailConfigured } from './mail.ts'

/**
 * Returns what the domain knows of the environment. `url` is the origin of the panel, `maxWaitMs` how many milliseconds
 * a request of this platform may wait for a daemon.
 */
export const panelConfigOf = (env: Env, url: string, maxWaitMs: number): PanelConfig => ({
  url,
  name: env.APP_NAME,
  sendsMail: isMailConfigured(env),
  clientRateLimit: env.CLIENT_RATE_LIMIT,
  applicationRateLimit: env.APPLICATION_RATE_LIMIT,
  timezone: env.APP_TIMEZONE,
  maxWaitMs,
  metricsToken: env.METRICS_TOKEN ?? null,
  setupCode: env.SETUP_CODE ?? null,
})
