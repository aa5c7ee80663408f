import { Hono } from 'hono'
import { maxShareBodyBytes, ShareInput, shareLog } from '../../domain/servers/console-share.ts'
import { body, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perUser, type ServerEnv } from './middleware.ts'
import { presentSharedLog, SharedLogLink } from './resources/shared-log.ts'

/** Spec: postClientServersByServerConsoleShare. */
export const consoleShare = new Hono<ServerEnv>().post(
  '/share',
  summary('Share a redacted console log for a day'),
  available,
  permission('websocket.connect'),
  throttle({ name: 'console-share', limit: 3, seconds: 60, key: perUser, failsClosed: true }),
  body(ShareInput, { limit: maxShareBodyBytes }),
  returns(200, SharedLogLink),
  async (c) => c.json(presentSharedLog(await shareLog(c.var.panel, c.req.valid('json')))),
)
