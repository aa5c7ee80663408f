import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod'
import { showConflict } from '../../domain/servers/conflict-since.ts'
import { showInstallation } from '../../domain/servers/installation-state.ts'
import { serverDetailsColumn, toClientServer } from '../../domain/servers/client-servers.ts'
import {
  CommandInput,
  PowerInput,
  powerPermissions,
  sendCommand,
  sendPowerSignal,
} from '../../domain/servers/control.ts'
import { readStats } from '../../domain/servers/stats.ts'
import { createWebsocketToken } from '../../domain/servers/websocket-tokens.ts'
import { answerJson, sendJson } from '../../http/json-text.ts'
import { withMetadata } from '../../http/metadata.ts'
import { body, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import {
  accessToServer,
  available,
  availableDuring,
  permission,
  readsOfServer,
  perUserAndServer,
  requirePermission,
  type ServerEnv,
} from './middleware.ts'
import { InstallationResource } from './resources/installation.ts'
import { ServerConflictResource } from './resources/server-conflict.ts'
import { writeServerWithMeta } from './resources/server-text.ts'
import { ServerWithMeta } from './resources/server.ts'
import { StatsResource } from './resources/stats.ts'
import { WebsocketDetails } from './resources/websocket.ts'
import { readServerIncludes } from './servers.ts'

/** Administrators may watch states that lock other users out. */
const watchable = availableDuring({
  everyone: [],
  administrators: ['installing', 'restoring', 'transferring'],
})

/** The installation is shown while it blocks everything else. */
const installable = availableDuring({ everyone: ['installing'], administrators: ['installing'] })

type PowerBody = { in: { json: unknown }; out: { json: z.output<ReturnType<typeof PowerInput>> } }

/** Requires the permission of the signal in the body. Refuses with 403. */
const signalPermission = withMetadata(
  { kind: 'permission', name: [...new Set(Object.values(powerPermissions))].join(' | ') },
  createMiddleware<ServerEnv, string, PowerBody>(async (c, next) => {
    requirePermission(c.var.access, powerPermissions[c.req.valid('json').signal])
    await next()
  }),
)

/** Spec: docs/servers.md#control. */
export const server = new Hono<ServerEnv>()
  .get(
    '/',
    summary('Show a server'),
    accessToServer,
    readsOfServer(async (c) => serverDetailsColumn(await readServerIncludes(c))),
    returns(200, ServerWithMeta),
    async (c) => {
      const include = await readServerIncludes(c)
      const row = toClientServer(c.get('panel'), c.get('access'), c.get('data'), include)
      return sendJson(c, writeServerWithMeta(row))
    },
  )

  .get(
    '/websocket',
    summary('Get a websocket token'),
    watchable,
    permission('websocket.connect', 'HttpForbiddenException'),
    throttle({ name: 'websocket', limit: 5, seconds: 60, key: perUserAndServer }),
    returns(200, WebsocketDetails),
    async (c) => c.json({ data: await createWebsocketToken(c.var.panel, c.var.access) }),
  )

  .get(
    '/resources',
    summary('Get the resource use of a server'),
    available,
    accessToServer,
    returns(200, StatsResource.One),
    async (c) => answerJson(c, StatsResource.one(await readStats(c.get('panel'), c.get('access')))),
  )

  .get(
    '/installation',
    summary('Show the installation of a server'),
    installable,
    permission('settings.reinstall'),
    returns(200, InstallationResource.One),
    async (c) => c.json(InstallationResource.one(await showInstallation(c.var.panel, c.var.access))),
  )

  .get(
    '/conflict',
    summary('Show what blocks a server'),
    accessToServer,
    returns(200, ServerConflictResource.One),
    async (c) => c.json(ServerConflictResource.one(await showConflict(c.var.panel, c.var.access))),
  )

  .post(
    '/power',
    summary('Send a power signal'),
    available,
    body(PowerInput),
    signalPermission,
    returns(204),
    async (c) => {
      await sendPowerSignal(c.var.panel, c.var.access, c.req.valid('json').signal)
      return c.body(null, 204)
    },
  )

  .post(
    '/command',
    summary('Send a console command'),
    available,
    permission('control.console'),
    body(CommandInput),
    returns(204),
    async (c) => {
      await sendCommand(c.var.panel, c.var.access, c.req.valid('json').command)
      return c.body(null, 204)
    },
  )
