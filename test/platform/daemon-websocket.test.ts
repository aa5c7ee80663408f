import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DaemonOptions } from '../../src/dev/daemon/daemon.ts'
import type { RunningDaemon } from '../../src/dev/daemon/start.ts'
import {
  callDaemon,
  discardDaemon,
  openSocket,
  signToken,
  startTestDaemon,
  type TestSocket,
} from '../support/development-daemon.ts'
import { describeGameServer } from '../support/game-server.ts'
import { startStubPanel, type StubPanel } from '../support/stub-panel.ts'
import { until } from '../support/until.ts'

let panel: StubPanel
let daemon: RunningDaemon & { dataDirectory: string }
const uuid = randomUUID()
const user = '3f1c2a55-7a39-4a55-8f43-0d6ac3f0a001'

beforeAll(async () => {
  panel = await startStubPanel()
  panel.servers.set(uuid, describeGameServer(uuid))
})

beforeEach(async () => {
  panel.refuse = () => undefined
  panel.calls.length = 0
  await restart()
})

afterEach(() => discardDaemon(daemon))
afterAll(() => panel.close())

async function restart(options: Partial<DaemonOptions> = {}): Promise<void> {
  daemon = await startTestDaemon(panel, options)
  await daemon.ready
}

async function replaceDaemon(options: Partial<DaemonOptions>): Promise<void> {
  await discardDaemon(daemon)
  await restart(options)
}

async function installGame(): Promise<void> {
  await callDaemon(daemon, 'POST', `/api/servers/${uuid}/install`)
  await until(() => expect(panel.callsTo('POST', `/servers/${uuid}/install`)).toHaveLength(1))
}

function connect(claims: Record<string, unknown> = {}): Promise<TestSocket> {
  return openSocket(daemon, uuid, panel.url, signToken(uuid, claims))
}

async function firstFrame(socket: TestSocket): Promise<unknown> {
  await until(() => expect(socket.frames.length).toBeGreaterThan(0))
  return socket.frames[0]
}

describe('the handshake', () => {
  it('refuses a foreign or missing origin with 403 and an unknown server with 404', async () => {
    await expect(openSocket(daemon, uuid, 'http://elsewhere.example')).rejects.toThrow('403')
    await expect(openSocket(daemon, uuid, undefined)).rejects.toThrow('403')
    await expect(openSocket(daemon, randomUUID(), panel.url)).rejects.toThrow('404')
    const plain = await callDaemon(daemon, 'GET', `/api/servers/${uuid}/ws`, undefined, {})
    expect(plain.status).toBe(400)
  })

  it('accepts a listed origin and at most 30 sockets per server', async () => {
    await replaceDaemon({ allowedOrigins: ['http://app.example'] })
    const opened = Array.from({ length: 30 }, () => openSocket(daemon, uuid, 'http://app.example'))
    await Promise.all(opened)
    await expect(openSocket(daemon, uuid, panel.url)).rejects.toThrow('400')
  })

  it('accepts a new panel URL at once, while calls and other responses keep the old one', async () => {
    const [remote, listed] = ['https://eu.example', 'https://panel.example']
    await callDaemon(daemon, 'POST', '/api/update', { remote })
    await expect(openSocket(daemon, uuid, panel.url)).rejects.toThrow('403')
    await openSocket(daemon, uuid, remote)
    await expect(openSocket(daemon, uuid, listed)).rejects.toThrow('403')
    await callDaemon(daemon, 'POST', '/api/update', { allowed_origins: [listed] })
    await openSocket(daemon, uuid, listed)
    const headers = { Origin: listed }
    const plain = await callDaemon(daemon, 'OPTIONS', '/api/system', undefined, headers)
    expect(plain.headers.get('access-control-allow-origin')).toBe(panel.url)
    panel.calls.length = 0
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/sync`)).status).toBe(204)
    expect(panel.callsTo('GET', `/servers/${uuid}`)).toHaveLength(1)
  })

  it('sends the state and, when offline, the resource use first', async () => {
    const socket = await connect()
    await until(() => expect(socket.frames).toHaveLength(3))
    expect(socket.frames[0]).toEqual({ event: 'auth success' })
    expect(socket.frames[1]).toEqual({ event: 'status', args: ['offline'] })
    expect(JSON.parse(socket.texts('stats')[0] ?? '')).toMatchObject({
      memory_bytes: 0,
      memory_limit_bytes: 588_800_000,
      network: { rx_bytes: 0, tx_bytes: 0 },
      state: 'offline',
      uptime: 0,
    })
  })

  it('closes with 4409 on a suspended server', async () => {
    panel.servers.set(uuid, describeGameServer(uuid, { suspended: true }))
    await callDaemon(daemon, 'POST', `/api/servers/${uuid}/sync`)
    panel.servers.set(uuid, describeGameServer(uuid))
    const socket = await openSocket(daemon, uuid, panel.url)
    expect(await socket.closed).toBe(4409)
  })
})

describe('tokens', () => {
  const now = (): number => Math.floor(Date.now() / 1_000)
  const prefix = `Error Event [${uuid}]:`

  it.each([
    ['without an expiry', () => ({ exp: undefined }), 'jwt: exp claim is invalid'],
    ['that have expired', () => ({ exp: now() - 1 }), 'jwt: exp claim is invalid'],
    ['without an issue time', () => ({ iat: undefined }), 'jwt: created too far in past (denylist)'],
    [
      'issued before the daemon started',
      () => ({ iat: now() - 60 }),
      'jwt: created too far in past (denylist)',
    ],
    ['without a scope', () => ({ scope: undefined }), 'jwt: missing connect permission'],
    ['of another scope', () => ({ scope: 'file-download' }), 'jwt: missing connect permission'],
    [
      'without the connect permission',
      () => ({ permissions: ['control.start'] }),
      'jwt: missing connect permission',
    ],
  ])('%s are refused', async (_, claims, text) => {
    const socket = await connect(claims())
    expect(await firstFrame(socket)).toEqual({ event: 'jwt error', args: [`${prefix} ${text}`] })
  })

  it('with a fractional time or a foreign signature are a daemon error', async () => {
    const fractional = await connect({ iat: now() + 0.5 })
    expect(await firstFrame(fractional)).toMatchObject({ event: 'daemon error' })
    const foreign = await openSocket(daemon, uuid, panel.url, signToken(uuid, {}, 'another secret'))
    expect(await firstFrame(foreign)).toMatchObject({ event: 'daemon error' })
  })

  it('of another server authenticate, but fail at the first event', async () => {
    const socket = await connect({ server_uuid: randomUUID() })
    await until(() => expect(socket.frames.length).toBeGreaterThan(1))
    expect(socket.frames[0]).toEqual({ event: 'auth success' })
    expect(socket.frames[1]).toEqual({ event: 'jwt error', args: ['jwt: server uuid mismatch'] })
  })

  it('are required before anything else', async () => {
    const socket = await openSocket(daemon, uuid, panel.url)
    socket.send('send logs')
    expect(await firstFrame(socket)).toEqual({ event: 'jwt error', args: ['jwt: no jwt present'] })
  })

  it('require no scope on 1.11', async () => {
    await replaceDaemon({ profile: '1.11' })
    const socket = await connect({ scope: undefined })
    expect(await firstFrame(socket)).toEqual({ event: 'auth success' })
  })

  it('announce their expiry and can be renewed on the same socket', async () => {
    await replaceDaemon({ tokenCheckInterval: 50 })
    const socket = await connect({ exp: now() + 4 })
    await until(() => expect(socket.texts('token expiring').length).toBeGreaterThan(0))
    const expired = { event: 'jwt error', args: ['jwt: exp claim is invalid'] }
    await until(() => expect(socket.frames).toContainEqual(expired))
    socket.send('auth', signToken(uuid))
    await until(() => expect(socket.frames.filter((frame) => frame.event === 'auth success')).toHaveLength(2))
    expect(socket.texts('status')).toHaveLength(1)
  })

  it('are revoked by their `jti`', async () => {
    const socket = await connect({ jti: 'gone' })
    await until(() => expect(socket.texts('stats')).toHaveLength(1))
    expect(
      (await callDaemon(daemon, 'POST', `/api/servers/${uuid}/ws/deny`, { jtis: ['gone'] })).status,
    ).toBe(204)
    socket.send('send stats')
    const denied = { event: 'jwt error', args: ['jwt: created too far in past (denylist)'] }
    await until(() => expect(socket.frames.at(-1)).toEqual(denied))
  })

  it('of a user are revoked and only that user is disconnected', async () => {
    const socket = await connect()
    const other = await connect({ user_uuid: randomUUID() })
    await until(() => expect([...socket.texts('stats'), ...other.texts('stats')]).toHaveLength(2))
    await callDaemon(daemon, 'POST', '/api/deauthorize-user', { user, servers: [uuid] })
    expect(await socket.closed).toBe(1006)
    const again = await connect()
    const denied = { event: 'jwt error', args: [`${prefix} jwt: created too far in past (denylist)`] }
    expect(await firstFrame(again)).toEqual(denied)
    other.send('send stats')
    await until(() => expect(other.texts('stats')).toHaveLength(2))
  })
})

describe('the console', () => {
  it('starts the server, echoes commands, shows the log and stops', async () => {
    await installGame()
    const socket = await connect()
    socket.send('set state', 'start')
    await until(() => expect(socket.texts('status')).toEqual(['offline', 'starting', 'running']))
    expect(socket.texts('console output')[0]).toContain('\u001b[33m\u001b[1m[Roost Daemon]:')
    socket.send('send command', 'say hello')
    await until(() => expect(socket.texts('console output')).toContain('[Server] hello'))
    const late = await connect()
    late.send('send logs')
    await until(() =>
      expect(late.texts('console output')).toEqual([
        'Loading on port 25565',
        'Done! Ready for players',
        '[Server] hello',
      ]),
    )
    await until(() => {
      const report = JSON.parse(late.texts('stats').at(-1) ?? '{}') as {
        uptime?: number
        memory_bytes?: number
      }
      expect(report.uptime).toBeGreaterThan(0)
      if (process.platform === 'linux') expect(report.memory_bytes).toBeGreaterThan(0)
    })
    socket.send('set state', 'stop')
    await until(() => expect(socket.texts('status').slice(-2)).toEqual(['stopping', 'offline']))
  })

  it('ignores commands without the permission', async () => {
    await installGame()
    const socket = await connect({ permissions: ['websocket.connect', 'control.console'] })
    socket.send('set state', 'start')
    socket.send('send stats')
    await until(() => expect(socket.texts('stats')).toHaveLength(2))
    expect(socket.texts('status')).toEqual(['offline'])
    const starter = await connect({ permissions: ['websocket.connect', 'control.start'] })
    starter.send('set state', 'start')
    await until(() => expect(starter.texts('status').at(-1)).toBe('running'))
    starter.send('send command', 'say unseen')
    starter.send('set state', 'kill')
    starter.send('send stats')
    socket.send('send command', 'say seen')
    await until(() => expect(socket.texts('console output')).toContain('[Server] seen'))
    expect(socket.texts('console output')).not.toContain('[Server] unseen')
    expect(starter.texts('status').at(-1)).toBe('running')
  })

  it('shows the installation and the messages of errors only to users with the permissions', async () => {
    const plain = await connect()
    const admin = await connect({ permissions: ['*', 'admin.websocket.install', 'admin.websocket.errors'] })
    await until(() => expect([...plain.texts('stats'), ...admin.texts('stats')]).toHaveLength(2))
    await installGame()
    await until(() => expect(plain.texts('install completed')).toEqual(['']))
    expect(plain.texts('install started')).toEqual([''])
    expect(plain.texts('install output')).toEqual([])
    expect(admin.texts('install output')).toEqual(['program installed'])
    panel.refuse = () => 404
    plain.send('set state', 'start')
    admin.send('set state', 'start')
    await until(() =>
      expect([...plain.texts('daemon error'), ...admin.texts('daemon error')]).toHaveLength(2),
    )
    expect(plain.texts('daemon error')[0]).not.toMatch(/\b404\b/)
  })
})

describe('activity', () => {
  it('is posted with every field and survives a refused post', async () => {
    await replaceDaemon({ activityInterval: 50 })
    await installGame()
    panel.refuse = (call) => (call.path === '/activity' ? 422 : undefined)
    const socket = await connect()
    socket.send('set state', 'start')
    await until(() => expect(socket.texts('status').at(-1)).toBe('running'))
    socket.send('send command', 'list')
    await until(() => {
      const refused = panel.callsTo('POST', '/activity').at(-1)?.body as { data: unknown[] } | undefined
      expect(refused?.data).toHaveLength(2)
    })
    panel.refuse = () => undefined
    await until(() => {
      const last = panel.callsTo('POST', '/activity').at(-1)?.body as { data: unknown[] } | undefined
      const common = {
        user,
        server: uuid,
        ip: '127.0.0.1',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{4,9}Z$/) as string,
      }
      expect(last?.data).toEqual([
        { ...common, event: 'server:power.start', metadata: {} },
        { ...common, event: 'server:console.command', metadata: { command: 'list' } },
      ])
    })
  })

  it('is posted when the daemon closes and kept on disk when that fails', async () => {
    await installGame()
    const socket = await connect()
    socket.send('set state', 'start')
    await until(() => expect(socket.texts('status').at(-1)).toBe('running'))
    panel.refuse = (call) => (call.path === '/activity' ? 500 : undefined)
    await daemon.close()
    panel.refuse = () => undefined
    const before = panel.callsTo('POST', '/activity').length
    expect(before).toBe(1)
    await restart({ dataDirectory: daemon.dataDirectory })
    await until(() => expect(panel.callsTo('POST', '/activity')).toHaveLength(2))
    expect(panel.callsTo('POST', '/activity')[1]?.text).toContain('server:power.start')
  })
})
