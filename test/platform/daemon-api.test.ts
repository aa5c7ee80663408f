import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfigFile } from '../../src/dev/daemon/config-file.ts'
import type { DaemonOptions } from '../../src/dev/daemon/daemon.ts'
import type { RunningDaemon } from '../../src/dev/daemon/start.ts'
import { callDaemon, discardDaemon, nodeSecret, startTestDaemon } from '../support/development-daemon.ts'
import { describeGameServer } from '../support/game-server.ts'
import { startStubPanel, type StubPanel } from '../support/stub-panel.ts'
import { until } from '../support/until.ts'

let panel: StubPanel
let dataDirectory: string
const running: RunningDaemon[] = []

beforeEach(async () => {
  panel = await startStubPanel()
  dataDirectory = await mkdtemp(join(tmpdir(), 'daemon-'))
})

afterEach(async () => {
  await Promise.all(running.splice(0).map((daemon) => discardDaemon({ ...daemon, dataDirectory })))
  await panel.close()
})

async function start(options: Partial<DaemonOptions> = {}): Promise<RunningDaemon> {
  const daemon = await startTestDaemon(panel, { dataDirectory, ...options })
  running.push(daemon)
  return daemon
}

function addServer(settings: Record<string, unknown> = {}): string {
  const uuid = randomUUID()
  panel.servers.set(uuid, describeGameServer(uuid, settings))
  return uuid
}

describe('boot', () => {
  it('fetches page 0, then the other pages, then reports the restart with the body null', async () => {
    for (let count = 0; count < 101; count += 1) addServer()
    const daemon = await start()
    await daemon.ready
    const pages = panel.callsTo('GET', '/servers').map((call) => Number(call.query.get('page')))
    expect(pages[0]).toBe(0)
    expect(pages.slice(1).toSorted((a, b) => a - b)).toEqual([2, 3])
    expect(panel.calls[0]?.query.get('per_page')).toBe('50')
    expect(panel.calls[0]?.headers['authorization']).toBe(`Bearer node-token-id-01.${nodeSecret}`)
    expect(panel.calls[0]?.headers['user-agent']).toBe('Pterodactyl Wings/v1.13.3 (id:node-token-id-01)')
    expect(panel.callsTo('POST', '/servers/reset').map((call) => call.text)).toEqual(['null'])
    const listed = (await (await callDaemon(daemon, 'GET', '/api/servers')).json()) as unknown[]
    expect(listed).toHaveLength(101)
  })

  it('listens while the panel is down, answers 503 about servers and boots once the panel is back', async () => {
    let isDown = true
    panel.refuse = () => (isDown ? 503 : undefined)
    const daemon = await start({ retry: { first: 10, max: 20, total: 20_000 } })
    expect((await callDaemon(daemon, 'GET', '/api/servers')).status).toBe(503)
    expect((await callDaemon(daemon, 'GET', '/api/system')).status).toBe(200)
    await until(() => expect(panel.callsTo('GET', '/servers').length).toBeGreaterThan(2))
    isDown = false
    await daemon.ready
    expect((await callDaemon(daemon, 'GET', '/api/servers')).status).toBe(200)
  })

  it('does not retry after a 4xx of the panel', async () => {
    panel.refuse = () => 403
    const daemon = await start()
    await expect(daemon.ready).rejects.toThrow('403')
    expect(panel.calls).toHaveLength(1)
  })

  it('skips a server whose configuration Wings cannot decode', async () => {
    const bad = addServer({ environment: [] })
    const good = addServer()
    const daemon = await start()
    await daemon.ready
    expect((await callDaemon(daemon, 'GET', `/api/servers/${bad}`)).status).toBe(404)
    expect((await callDaemon(daemon, 'GET', `/api/servers/${good}`)).status).toBe(200)
  })
})

describe('the HTTP API', () => {
  it('checks the token before the path and the path before the server', async () => {
    const daemon = await start()
    await daemon.ready
    const missing = await callDaemon(daemon, 'GET', '/api/nothing', undefined, {})
    expect(missing.status).toBe(401)
    expect(missing.headers.get('WWW-Authenticate')).toBe('Bearer')
    expect(await missing.json()).toEqual({
      error: expect.any(String),
      request_id: missing.headers.get('X-Request-Id'),
    })
    const wrong = await callDaemon(daemon, 'GET', `/api/servers/${randomUUID()}`, undefined, {
      Authorization: `Bearer node-token-id-01.${nodeSecret}`,
    })
    expect(wrong.status).toBe(403)
    const unknownPath = await callDaemon(daemon, 'GET', '/api/nothing')
    expect(unknownPath.status).toBe(404)
    expect(unknownPath.headers.get('Content-Type')).toContain('text/plain')
    const unknownServer = await callDaemon(daemon, 'GET', `/api/servers/${randomUUID()}`)
    expect(unknownServer.status).toBe(404)
    expect(await unknownServer.json()).toHaveProperty('error')
    expect((await callDaemon(daemon, 'PUT', '/api/system')).status).toBe(404)
  })

  it('answers OPTIONS anywhere and names the panel as the allowed origin', async () => {
    const daemon = await start()
    const answer = await callDaemon(daemon, 'OPTIONS', '/upload/file', undefined, {})
    expect(answer.status).toBe(204)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(panel.url)
    expect(answer.headers.get('Access-Control-Max-Age')).toBe('7200')
  })

  it('describes the system in both versions', async () => {
    const daemon = await start()
    const first = await (await callDaemon(daemon, 'GET', '/api/system')).json()
    expect(first).toMatchObject({ version: '1.13.3', os: expect.any(String), cpu_count: expect.any(Number) })
    const second = await (await callDaemon(daemon, 'GET', '/api/system?v=2')).json()
    expect(second).toMatchObject({
      version: '1.13.3',
      docker: { containers: { total: 0, running: 0 } },
      system: { memory_bytes: expect.any(Number), os_type: expect.any(String) },
    })
  })

  it('answers 400 as text for a body that is empty, not JSON, or has a field of the wrong type', async () => {
    const uuid = addServer()
    const daemon = await start()
    await daemon.ready
    for (const body of ['', 'nonsense', '[]', '{"action":5}']) {
      const answer = await callDaemon(daemon, 'POST', `/api/servers/${uuid}/power`, body)
      expect(answer.status).toBe(400)
      expect(answer.headers.get('Content-Type')).toContain('text/plain')
      expect(await answer.json()).toHaveProperty('error')
    }
    const unknown = await callDaemon(daemon, 'POST', `/api/servers/${uuid}/power`, { action: 'explode' })
    expect(unknown.status).toBe(422)
  })

  it('refuses to start a server that is suspended', async () => {
    const uuid = addServer({ suspended: true })
    const daemon = await start()
    await daemon.ready
    const path = `/api/servers/${uuid}/power`
    expect((await callDaemon(daemon, 'POST', path, { action: 'start' })).status).toBe(400)
    expect((await callDaemon(daemon, 'POST', path, { action: 'restart' })).status).toBe(400)
    expect((await callDaemon(daemon, 'POST', path, { action: 'kill' })).status).toBe(202)
  })

  it('answers 502 to a command for a stopped server', async () => {
    const uuid = addServer()
    const daemon = await start()
    await daemon.ready
    const answer = await callDaemon(daemon, 'POST', `/api/servers/${uuid}/commands`, { commands: ['list'] })
    expect(answer.status).toBe(502)
  })

  it('synchronizes before it answers: 204, or 500 with the old configuration kept', async () => {
    const uuid = addServer()
    const daemon = await start()
    await daemon.ready
    panel.servers.set(uuid, describeGameServer(uuid, { suspended: true }))
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/sync`)).status).toBe(204)
    panel.refuse = () => 500
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/sync`)).status).toBe(500)
    expect(panel.callsTo('GET', `/servers/${uuid}`).length).toBeGreaterThan(2)
    const shown = await (await callDaemon(daemon, 'GET', `/api/servers/${uuid}`)).json()
    expect(shown).toMatchObject({ state: 'offline', is_suspended: true, utilization: { uptime: 0 } })
  })

  it('switches the node secret by release line', async () => {
    const fresh = { Authorization: 'Bearer fresh-secret' }
    const update = { token_id: 'fresh-id', token: 'fresh-secret', api: { upload_limit: null } }
    const old = await start({ profile: '1.11' })
    await old.ready
    expect(await (await callDaemon(old, 'POST', '/api/update', update)).json()).toEqual({ applied: true })
    expect((await callDaemon(old, 'GET', '/api/system', undefined, fresh)).status).toBe(200)
    const uuid = addServer()
    await callDaemon(old, 'POST', '/api/servers', { uuid }, fresh)
    expect(panel.calls.at(-1)?.headers['authorization']).toContain('node-token-id-01.')
    const middle = await start({ profile: '1.12' })
    await callDaemon(middle, 'POST', '/api/update', update)
    expect((await callDaemon(middle, 'GET', '/api/system', undefined, fresh)).status).toBe(403)
    middle.updateCredentials('fresh-id', 'fresh-secret')
    expect((await callDaemon(middle, 'GET', '/api/system', undefined, fresh)).status).toBe(200)
  })

  it('writes its configuration file, or keeps the old configuration when it cannot', async () => {
    const configFile = join(dataDirectory, 'config', 'node.json')
    const daemon = await start({ configFile })
    await daemon.ready
    const update = (remote: string) => callDaemon(daemon, 'POST', '/api/update', { remote })
    expect((await update('https://eu.example')).status).toBe(500)
    await mkdir(join(dataDirectory, 'config'))
    expect((await callDaemon(daemon, 'POST', '/api/update', { api: { upload_limit: 7 } })).status).toBe(200)
    expect(await readConfigFile(configFile)).toMatchObject({ panelUrl: panel.url, token: nodeSecret })
    await update('https://eu.example')
    expect(await readConfigFile(configFile)).toMatchObject({ panelUrl: 'https://eu.example' })
    expect((await stat(configFile)).mode & 0o777).toBe(0o600)
  })

  it('has deauthorize-user from 1.12 on', async () => {
    const body = { user: randomUUID(), servers: [] }
    const old = await start({ profile: '1.11' })
    await old.ready
    expect((await callDaemon(old, 'POST', '/api/deauthorize-user', body)).status).toBe(404)
    const present = await start()
    await present.ready
    expect((await callDaemon(present, 'POST', '/api/deauthorize-user', body)).status).toBe(204)
  })
})

describe('faults', () => {
  it('fails, drops and hangs', async () => {
    const uuid = addServer()
    const daemon = await start()
    await daemon.ready
    const path = `/api/servers/${uuid}/sync`
    const before = panel.callsTo('GET', `/servers/${uuid}`).length
    daemon.faults.push({ route: 'POST /api/servers/*/sync', effect: 'fail', status: 502, times: 1 })
    daemon.faults.push({ route: 'POST /api/servers/*/sync', effect: 'drop', times: 1 })
    daemon.faults.push({ route: 'POST /api/servers/*/sync', effect: 'hang', times: 1 })
    expect((await callDaemon(daemon, 'POST', path)).status).toBe(502)
    expect(panel.callsTo('GET', `/servers/${uuid}`)).toHaveLength(before)
    await expect(callDaemon(daemon, 'POST', path)).rejects.toThrow()
    expect(panel.callsTo('GET', `/servers/${uuid}`)).toHaveLength(before + 1)
    const aborted = fetch(`${daemon.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${nodeSecret}` },
      signal: AbortSignal.timeout(200),
    })
    await expect(aborted).rejects.toThrow()
    expect((await callDaemon(daemon, 'POST', path)).status).toBe(204)
  })

  it('repeats a callback', async () => {
    const uuid = addServer({ skip_egg_scripts: true })
    const daemon = await start({
      faults: [{ route: 'POST /api/remote/servers/*/install', effect: 'duplicate' }],
    })
    await daemon.ready
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/install`)).status).toBe(202)
    await until(() => expect(panel.callsTo('POST', `/servers/${uuid}/install`)).toHaveLength(2))
  })
})
