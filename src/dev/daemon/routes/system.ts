import { arch, cpus, platform, release, totalmem, type } from 'node:os'
import { Hono } from 'hono'
import { applyConfig } from '../config-update.ts'
import type { Daemon } from '../daemon.ts'
import type { DaemonEnv } from '../http-context.ts'
import { readBody } from '../request-body.ts'

/** Creates the routes of the system and its configuration. Wings: GET /api/system, POST /api/update */
export function systemRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.get('/api/system', (c) =>
    c.json(c.req.query('v') === '2' ? describeSystem(daemon) : describeHost(daemon)),
  )
  app.post('/api/update', async (c) => {
    applyConfig(daemon, await readBody(c.req))
    return c.json({ applied: true })
  })
  return app
}

function architecture(): string {
  return arch() === 'x64' ? 'amd64' : arch()
}

function operatingSystem(): string {
  return platform() === 'win32' ? 'windows' : platform()
}

function describeHost(daemon: Daemon): Record<string, unknown> {
  return {
    architecture: architecture(),
    cpu_count: cpus().length,
    kernel_version: release(),
    os: operatingSystem(),
    version: daemon.settings.version,
  }
}

function describeSystem(daemon: Daemon): Record<string, unknown> {
  const servers = [...daemon.servers.values()]
  const running = servers.filter((server) => server.process).length
  return {
    version: daemon.settings.version,
    docker: {
      version: 'none',
      cgroups: { driver: 'none', version: 'none' },
      containers: { total: servers.length, running, paused: 0, stopped: servers.length - running },
      storage: { driver: 'local', filesystem: 'local' },
      runc: { version: 'none' },
    },
    system: {
      architecture: architecture(),
      cpu_threads: cpus().length,
      memory_bytes: totalmem(),
      kernel_version: release(),
      os: type(),
      os_type: operatingSystem(),
    },
  }
}
