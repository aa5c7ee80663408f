import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod'
import { describeServer } from '../../domain/client-servers.ts'
import {
  CommandInput,
  PowerInput,
  powerPermissions,
  sendCommand,
  sendPowerSignal,
} from '../../domain/control.ts'
import { readStats } from '../../domain/stats.ts'
import { issueWebsocketToken } from '../../domain/websocket-tokens.ts'
import { stating } from '../../http/facts.ts'
import { body, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import {
  access,
  available,
  availableDespite,
  permission,
  perUserAndServer,
  requirePermission,
  type ServerEnv,
} from './env.ts'
import { presentServer, ServerWithMeta } from './resources/server.ts'
import { StatsResource } from './resources/stats.ts'
import { WebsocketDetails } from './resources/websocket.ts'
import { serverIncludesIn } from './servers.ts'

/** Administrators may watch what keeps the others out. */
const watchable = availableDespite({
  everyone: [],
  administrators: ['installing', 'restoring', 'transferring'],
})

const measurable = availableDespite({ everyone: ['suspended'], administrators: ['suspended'] })

type PowerBody = { in: { json: unknown }; out: { json: z.output<ReturnType<typeof PowerInput>> } }

/** Each signal needs its own permission, so the body is read first. */
const permissionOfSignal = stating(
  { kind: 'permission', name: [...new Set(Object.values(powerPermissions))].join(' | ') },
  createMiddleware<ServerEnv, string, PowerBody>(async (c, next) => {
    requirePermission(c.var.permissions, powerPermissions[c.req.valid('json').signal])
    await next()
  }),
)

/** Spec: Client API, server control. */
export const server = new Hono<ServerEnv>()
  .get('/', summary('Show a server'), access, returns(200, ServerWithMeta), async (c) =>
    c.json(presentServer(await describeServer(c.var.panel, c.var.reached, serverIncludesIn(c)))),
  )

  .get(
    '/websocket',
    summary('Get a token for the live console'),
    watchable,
    permission('websocket.connect', 'HttpForbiddenException'),
    throttle({ name: 'websocket', limit: 30, seconds: 60, key: perUserAndServer }),
    returns(200, WebsocketDetails),
    async (c) => c.json({ data: await issueWebsocketToken(c.var.panel, c.var.reached) }),
  )

  .get(
    '/resources',
    summary('Show state and resource use'),
    measurable,
    access,
    returns(200, StatsResource.One),
    async (c) => c.json(StatsResource.one(await readStats(c.var.panel, c.var.reached))),
  )

  .post(
    '/power',
    summary('Send a power signal'),
    available,
    body(PowerInput),
    permissionOfSignal,
    returns(204),
    async (c) => {
      await sendPowerSignal(c.var.panel, c.var.reached, c.req.valid('json').signal)
      return c.body(null, 204)
    },
  )

  .post(
    '/command',
    summary('Send a command to the console'),
    available,
    permission('control.console'),
    body(CommandInput),
    returns(204),
    async (c) => {
      await sendCommand(c.var.panel, c.var.reached, c.req.valid('json').command)
      return c.body(null, 204)
    },
  )
