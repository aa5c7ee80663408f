import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunningDaemon } from '../../src/dev/daemon/start.ts'
import {
  callDaemon,
  discardDaemon,
  openSocket,
  signToken,
  startTestDaemon,
} from '../support/development-daemon.ts'
import { describeGameServer } from '../support/game-server.ts'
import { startStubPanel, type StubPanel } from '../support/stub-panel.ts'
import { until } from '../support/until.ts'

let panel: StubPanel
let daemon: RunningDaemon & { dataDirectory: string }
let uuid: string

beforeEach(async () => {
  panel = await startStubPanel()
  daemon = await startTestDaemon(panel)
  await daemon.ready
  uuid = randomUUID()
  panel.servers.set(uuid, describeGameServer(uuid))
})

afterEach(async () => {
  await discardDaemon(daemon)
  await panel.close()
})

function installResults(): unknown[] {
  return panel.callsTo('POST', `/servers/${uuid}/install`).map((call) => call.body)
}

async function install(): Promise<void> {
  expect((await callDaemon(daemon, 'POST', '/api/servers', { uuid })).status).toBe(202)
  await until(() => expect(installResults()).toHaveLength(1))
}

async function power(action: string): Promise<void> {
  const answer = await callDaemon(daemon, 'POST', `/api/servers/${uuid}/power`, { action, wait_seconds: 5 })
  expect(answer.status).toBe(202)
}

async function waitForState(state: string): Promise<void> {
  await until(async () => {
    const shown = await (await callDaemon(daemon, 'GET', `/api/servers/${uuid}`)).json()
    expect(shown).toMatchObject({ state })
  })
}

async function readPid(): Promise<number> {
  return Number(await readFile(join(daemon.dataDirectory, 'volumes', uuid, 'server.pid'), 'utf8'))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function readLogs(): Promise<string[]> {
  const answer = await callDaemon(daemon, 'GET', `/api/servers/${uuid}/logs`)
  return ((await answer.json()) as { data: string[] | null }).data ?? []
}

describe('creation', () => {
  it('installs in the background, whatever the exit code of the script, and can start afterwards', async () => {
    const answer = await callDaemon(daemon, 'POST', '/api/servers', { uuid, start_on_completion: true })
    expect(answer.status).toBe(202)
    expect(panel.callsTo('GET', `/servers/${uuid}`)).toHaveLength(1)
    await waitForState('running')
    expect(installResults()).toEqual([{ successful: true, reinstall: false }])
    const log = await readFile(join(daemon.dataDirectory, 'logs', 'install', `${uuid}.log`), 'utf8')
    expect(log).toBe('program installed\n')
  })

  it('refuses a UUID of another version and a server that the panel does not have', async () => {
    const other = await callDaemon(daemon, 'POST', '/api/servers', {
      uuid: '018f4e3c-7b1a-7000-8000-000000000000',
    })
    expect(other.status).toBe(422)
    const unknown = await callDaemon(daemon, 'POST', '/api/servers', { uuid: randomUUID() })
    expect(unknown.status).toBe(500)
  })

  it('reports a failure when the script cannot be run, and success when scripts are skipped', async () => {
    panel.servers.get(uuid)!.install.entrypoint = 'no-such-interpreter'
    await install()
    expect(installResults()).toEqual([{ successful: false, reinstall: false }])
    panel.servers.get(uuid)!.settings['skip_egg_scripts'] = true
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/reinstall`)).status).toBe(202)
    await until(() => expect(installResults()).toHaveLength(2))
    expect(installResults()[1]).toEqual({ successful: true, reinstall: true })
  })

  it('refuses to install and to start an egg that does not declare the local runtime', async () => {
    const other = describeGameServer(uuid, { egg: { id: randomUUID(), file_denylist: [] } })
    panel.servers.set(uuid, other)
    await install()
    expect(installResults()).toEqual([{ successful: false, reinstall: false }])
    expect(panel.callsTo('GET', `/servers/${uuid}/install`)).toEqual([])
    const socket = await openSocket(daemon, uuid, panel.url, signToken(uuid))
    await until(() => expect(socket.frames.map(({ event }) => event)).toContain('auth success'))
    await power('start')
    const sentence = 'it runs only eggs with the feature local_runtime, such as Demo and Node.js.'
    await until(() => expect(socket.texts('console output').join('\n')).toContain(sentence))
    await waitForState('offline')
    expect(existsSync(join(daemon.dataDirectory, 'volumes', uuid, 'server.mjs'))).toBe(false)
    socket.close()
  })

  it('runs a script for node with this Node and without the daemon’s environment', async () => {
    panel.servers.get(uuid)!.install = {
      container_image: '',
      entrypoint: 'node',
      script: "require('node:fs').writeFileSync('/mnt/server/made.json', JSON.stringify(process.env))",
    }
    await install()
    const made = await readFile(join(daemon.dataDirectory, 'volumes', uuid, 'made.json'), 'utf8')
    expect(JSON.parse(made)).toMatchObject({ MOTD: 'Hello', GREETING: 'lower case' })
    expect(JSON.parse(made)).not.toHaveProperty('VITEST')
  })
})

describe('a daemon that pushes states', () => {
  it.each([
    ['1.11', false],
    ['1.12', true],
    ['1.13', false],
    ['pelican', true],
  ] as const)('pushes every change of state in order: profile %s, %s', async (profile, pushes) => {
    await discardDaemon(daemon)
    daemon = await startTestDaemon(panel, { profile })
    await daemon.ready
    await install()
    panel.refuse = ({ body }) => {
      const { data } = (body ?? {}) as { data?: { new_state?: string } }
      return data?.new_state === 'running' ? 404 : undefined
    }
    await power('start')
    await waitForState('running')
    await power('stop')
    await waitForState('offline')
    const path = `/servers/${uuid}/container/status`
    const changes = [
      ['offline', 'starting'],
      ['starting', 'running'],
      ['running', 'stopping'],
      ['stopping', 'offline'],
    ].map(([previous, next]) => ({ data: { previous_state: previous, new_state: next } }))
    await until(() =>
      expect(panel.callsTo('POST', path).map(({ body }) => body)).toEqual(pushes ? changes : []),
    )
  })
})

describe('power', () => {
  it('starts, takes commands and stops by the stop command', async () => {
    await install()
    await power('start')
    await waitForState('running')
    expect(await readLogs()).toEqual(['Loading on port 25565', 'Done! Ready for players'])
    const properties = join(daemon.dataDirectory, 'volumes', uuid, 'server.properties')
    expect(await readFile(properties, 'utf8')).toBe('server-port=25565\n')
    const answer = await callDaemon(daemon, 'POST', `/api/servers/${uuid}/commands`, {
      commands: ['say hi', 'list'],
    })
    expect(answer.status).toBe(204)
    await until(async () =>
      expect((await readLogs()).slice(2)).toEqual(['[Server] hi', 'There are 0 players online']),
    )
    const pid = await readPid()
    expect(isAlive(pid)).toBe(true)
    await power('stop')
    await waitForState('offline')
    expect(isAlive(pid)).toBe(false)
  })

  it('restarts and kills', async () => {
    await install()
    await power('start')
    await waitForState('running')
    const first = await readPid()
    await power('restart')
    await until(async () => expect(await readPid()).not.toBe(first))
    expect(isAlive(first)).toBe(false)
    await waitForState('running')
    await power('kill')
    await waitForState('offline')
  })

  it('stops by a signal without taking it for a crash', async () => {
    const configuration = panel.servers.get(uuid)!.process_configuration as Record<string, unknown>
    configuration['stop'] = { type: 'signal', value: 'SIGINT' }
    await install()
    await power('start')
    await waitForState('running')
    const socket = await openSocket(daemon, uuid, panel.url, signToken(uuid))
    await until(() => expect(socket.texts('status')).toEqual(['running']))
    await power('stop')
    await until(() => expect(socket.texts('status')).toEqual(['running', 'stopping', 'offline']))
    expect(socket.texts('console output')).toEqual([])
  })

  it('allows no reinstallation during another action, which a kill ends', async () => {
    const configuration = panel.servers.get(uuid)!.process_configuration as Record<string, unknown>
    configuration['stop'] = { type: 'command', value: 'unheard' }
    await install()
    await power('start')
    await waitForState('running')
    await power('stop')
    await waitForState('stopping')
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/reinstall`)).status).toBe(409)
    await power('kill')
    await waitForState('offline')
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/reinstall`)).status).toBe(202)
    await until(() => expect(installResults()).toHaveLength(2))
    expect(installResults()[1]).toEqual({ successful: true, reinstall: true })
  })

  it('cannot start while the panel refuses the configuration', async () => {
    await install()
    panel.refuse = () => 500
    const before = panel.callsTo('GET', `/servers/${uuid}`).length
    await power('start')
    await until(() => expect(panel.callsTo('GET', `/servers/${uuid}`).length).toBeGreaterThan(before + 1))
    await waitForState('offline')
  })

  it('restarts after a crash, but not after a second one soon after', async () => {
    await install()
    const socket = await openSocket(daemon, uuid, panel.url, signToken(uuid))
    await power('start')
    await waitForState('running')
    await callDaemon(daemon, 'POST', `/api/servers/${uuid}/commands`, { commands: ['crash'] })
    const states = ['offline', 'starting', 'running', 'offline', 'starting', 'running']
    await until(() => expect(socket.texts('status')).toEqual(states))
    await callDaemon(daemon, 'POST', `/api/servers/${uuid}/commands`, { commands: ['crash'] })
    await until(() => expect(socket.texts('console output').at(-1)).toContain('No automatic restart'))
    expect(socket.texts('console output').filter((line) => line?.includes('Exit code: 3'))).toHaveLength(2)
    socket.close()
  })

  it('stops a server that is suspended by a synchronization', async () => {
    await install()
    await power('start')
    await waitForState('running')
    panel.servers.get(uuid)!.settings['suspended'] = true
    expect((await callDaemon(daemon, 'POST', `/api/servers/${uuid}/sync`)).status).toBe(204)
    await waitForState('offline')
  })
})

describe('the end', () => {
  it('deletes the process, the files and the sockets of a server', async () => {
    await install()
    await power('start')
    await waitForState('running')
    const pid = await readPid()
    const socket = await openSocket(daemon, uuid, panel.url, signToken(uuid))
    await until(() => expect(socket.texts('status')).toEqual(['running']))
    expect((await callDaemon(daemon, 'DELETE', `/api/servers/${uuid}`)).status).toBe(204)
    expect(await socket.closed).toBe(1001)
    expect(socket.frames.find((frame) => frame.event === 'deleted')?.args).toEqual(['null'])
    expect(isAlive(pid)).toBe(false)
    expect((await callDaemon(daemon, 'GET', `/api/servers/${uuid}`)).status).toBe(404)
    await until(() => expect(existsSync(join(daemon.dataDirectory, 'volumes', uuid))).toBe(false))
  })

  it('leaves no process behind, and the next daemon starts the running servers again', async () => {
    await install()
    await power('start')
    await waitForState('running')
    const pid = await readPid()
    await daemon.close()
    expect(isAlive(pid)).toBe(false)
    daemon = await startTestDaemon(panel, { dataDirectory: daemon.dataDirectory })
    await daemon.ready
    await waitForState('running')
  })
})
