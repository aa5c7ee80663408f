import { rm } from 'node:fs/promises'
import { Hono } from 'hono'
import { abortBackgroundWork } from '../background-work.ts'
import type { Daemon } from '../daemon.ts'
import { killGame, refreshDiskUsage, stopGame } from '../game-process.ts'
import {
  describeUsage,
  fetchConfiguration,
  publish,
  registerServer,
  synchronize,
  type GameServer,
} from '../game-server.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'
import { installServer } from '../install.ts'
import { describeError } from '../panel-client.ts'
import { runPowerActionInBackground } from '../power.ts'
import { cancelPulls } from '../pulls.ts'
import { readBody, readBoolean, readString } from '../request-body.ts'

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const startWaitMs = 30_000
const suspensionTimeoutMs = 60_000

/** Creates the routes of servers. Wings: GET, POST /api/servers and GET, DELETE /api/servers/{uuid}, POST …/sync */
export function serverRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.get('/api/servers', (c) => c.json([...daemon.servers.values()].map(describeServer)))
  app.post('/api/servers', async (c) => {
    const body = await readBody(c.req)
    const uuid = readString(body, 'uuid')
    const startOnCompletion = readBoolean(body, 'start_on_completion')
    if (!uuidV4.test(uuid)) return errorResponse(c, 422, 'The uuid is not a version 4 UUID.')
    try {
      void createServer(daemon, await fetchConfiguration(daemon, uuid), startOnCompletion)
    } catch (error) {
      daemon.log(`${uuid}: the server was not created: ${describeError(error)}`)
      return errorResponse(c, 500, 'The configuration of the server could not be fetched from the panel.')
    }
    return c.body(null, 202)
  })
  app.get('/api/servers/:server', withServer, (c) => c.json(describeServer(c.get('server'))))
  app.delete('/api/servers/:server', withServer, async (c) => {
    await deleteServer(daemon, c.get('server'))
    return c.body(null, 204)
  })
  app.post('/api/servers/:server/sync', withServer, async (c) => {
    const server = c.get('server')
    try {
      await synchronize(daemon, server)
    } catch (error) {
      daemon.log(`${server.uuid}: the configuration was not synchronized: ${describeError(error)}`)
      return errorResponse(c, 500, 'The configuration of the server could not be fetched from the panel.')
    }
    if (server.suspended) void stopGame(daemon, server, suspensionTimeoutMs)
    return c.body(null, 204)
  })
  return app
}

function describeServer(server: GameServer): Record<string, unknown> {
  void refreshDiskUsage(server)
  return {
    state: server.state,
    is_suspended: server.suspended,
    utilization: describeUsage(server),
    configuration: server.configuration.settings,
  }
}

/** Creates and installs a server. An existing one is installed again, which Wings does not check either. */
async function createServer(
  daemon: Daemon,
  configuration: GameServer['configuration'],
  startOnCompletion: boolean,
): Promise<void> {
  const present = daemon.servers.get(configuration.uuid)
  if (present) present.configuration = configuration
  const server = present ?? registerServer(daemon, configuration)
  daemon.states.record(server.uuid, server.state)
  await installServer(daemon, server, false)
  if (startOnCompletion && !server.deleted) runPowerActionInBackground(daemon, server, 'start', startWaitMs)
}

async function deleteServer(daemon: Daemon, server: GameServer): Promise<void> {
  server.suspended = true
  server.deleted = true
  if (server.transfer?.direction === 'outgoing') publish(server, 'transfer status', 'completed')
  publish(server, 'deleted', 'null')
  for (const socket of server.sockets) socket.close(1001, 'server deleted')
  server.installation?.kill()
  server.transfer?.abort()
  await killGame(daemon, server)
  daemon.servers.delete(server.uuid)
  daemon.states.forget(server.uuid)
  removeFiles(server).catch((error: unknown) =>
    daemon.log(`${server.uuid}: the files were not removed: ${describeError(error)}`),
  )
}

async function removeFiles(server: GameServer): Promise<void> {
  await cancelPulls(server)
  await abortBackgroundWork([...server.backups, ...server.restorations])
  await server.installation?.ended
  await server.transfer?.ended
  await rm(server.directory, { recursive: true, force: true })
}
