import { Hono } from 'hono'
import { shareBodyLimit, ShareInput, shareLog } from '../../domain/console-share.ts'
import { body, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perUser, type ServerEnv } from './env.ts'
import { presentSharedLog, SharedLogLink } from './resources/shared-log.ts'

/** Spec: Client API, server control: console/share. */
export const consoleShare = new Hono<ServerEnv>().post(
  '/share',
  summary('Publish a console log, redacted, for a day'),
  available,
  permission('websocket.connect'),
  throttle({ name: 'console-share', limit: 3, seconds: 60, key: perUser, isVital: true }),
  body(ShareInput, shareBodyLimit),
  returns(200, SharedLogLink),
  async (c) => c.json(presentSharedLog(await shareLog(c.var.panel, c.req.valid('json')))),
)
