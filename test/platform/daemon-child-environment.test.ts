import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RunningDaemon } from '../../src/dev/daemon/start.ts'
import { callDaemon, discardDaemon, startTestDaemon } from '../support/development-daemon.ts'
import { describeGameServer } from '../support/game-server.ts'
import { startStubPanel, type StubPanel } from '../support/stub-panel.ts'
import { until } from '../support/until.ts'

let panel: StubPanel
let daemon: RunningDaemon & { dataDirectory: string }

beforeEach(async () => {
  panel = await startStubPanel()
  daemon = await startTestDaemon(panel)
  await daemon.ready
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await discardDaemon(daemon)
  await panel.close()
})

it('child processes of the development daemon keep the minimal environment', async () => {
  for (const name of ['APP_KEYS', 'DATABASE_URL', 'QSTASH_TOKEN', 'NODE_OPTIONS', 'LD_PRELOAD_HUSH'])
    vi.stubEnv(name, name === 'NODE_OPTIONS' ? '--no-warnings' : 'hush')
  const uuid = randomUUID()
  const server = describeGameServer(uuid)
  panel.servers.set(uuid, server)
  expect((await callDaemon(daemon, 'POST', '/api/servers', { uuid })).status).toBe(202)
  await until(() => expect(panel.callsTo('POST', `/servers/${uuid}/install`)).toHaveLength(1))
  server.settings['invocation'] =
    "node -e \"require('fs').writeFileSync('made.json', JSON.stringify(process.env))\""
  await callDaemon(daemon, 'POST', `/api/servers/${uuid}/sync`)
  await callDaemon(daemon, 'POST', `/api/servers/${uuid}/power`, { action: 'start', wait_seconds: 5 })
  const made = await until(async () =>
    JSON.parse(await readFile(join(daemon.dataDirectory, 'volumes', uuid, 'made.json'), 'utf8')),
  )
  // What the server's configuration sets, what an image would set, and what a shell adds.
  expect(
    Object.keys(made)
      .filter((name) => !['_', 'OLDPWD', 'PWD', 'SHLVL'].includes(name))
      .toSorted(),
  ).toEqual([
    'GREETING',
    'HOME',
    'LANG',
    'LOCAL_RUNTIME',
    'MOTD',
    'PATH',
    'SERVER_IP',
    'SERVER_MEMORY',
    'SERVER_PORT',
    'SERVER_ROOT',
    'STARTUP',
    'TZ',
  ])
  expect(JSON.stringify(made)).not.toContain('hush')
})
