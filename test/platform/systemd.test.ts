import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signUnit, writeUnitFile } from '../../src/cli/service/unit-file.ts'
import { makePanelFolder, type PanelFolder } from '../support/panel-folder.ts'
import { eventually, startProcess } from '../support/processes.ts'

const hasProgram = (name: string) => {
  const exists = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
  if (!exists) console.log(`SKIPPED what systemd is told: there is no ${name}.`)
  return exists
}
const canListen = hasProgram('systemd-notify') && hasProgram('python3')
const canVerify = hasProgram('systemd-analyze')

const printUnit = (...args: string[]) =>
  execFileSync(process.execPath, ['src/cli/start.js', 'service:install', '--print', ...args], {
    encoding: 'utf8',
  })

let folder: PanelFolder
beforeEach(async () => {
  folder = await makePanelFolder()
})
afterEach(() => folder.remove())

describe('service:install', { timeout: 60_000 }, () => {
  it.skipIf(!canVerify)('writes a unit that systemd takes, and rates as safe', async () => {
    const file = join(folder.path, 'roost.service')
    await writeFile(file, printUnit('--port', '443'))
    const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect(verified.stderr.split('\n').filter((line) => line.includes('roost.service'))).toEqual([])
    const rated = spawnSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' })
    const exposure = Number(/exposure level for roost\.service: ([\d.]+)/.exec(rated.stdout)?.[1])
    expect(exposure).toBeLessThan(2.5)
  })

  it('says what differs, and refuses what cannot work', () => {
    const unit = printUnit('--user', 'games', '--data-dir', '/srv/roost')
    expect(unit).toContain('User=games\nReadWritePaths=/srv/roost\n')
    expect(unit).not.toContain('DynamicUser')
    const refused = (...args: string[]) =>
      spawnSync(process.execPath, ['src/cli/start.js', 'service:install', ...args], { encoding: 'utf8' })
    expect(refused('--print', '--data-dir', '/srv/roost').stderr).toContain('needs --user')
    expect(refused('--print', '--port', '0').status).toBe(2)
  })
})

describe('the file of a unit', () => {
  const file = () => join(folder.path, 'roost.service')
  const read = () => readFile(file(), 'utf8')
  const newer = signUnit('[Service]\nExecStart=/usr/bin/node\n')

  it('is replaced as long as it is as it was written', async () => {
    await writeUnitFile(file(), signUnit('[Service]\n'), false)
    expect(await writeUnitFile(file(), newer, false)).toBeNull()
    expect(await read()).toBe(newer)
    expect(await readdir(folder.path)).not.toContain('roost.service.new')
  })

  it.each([
    ['changed', signUnit('[Service]\n').replace('[Service]', '[Service]\nNice=5'), 'was changed since'],
    ['of others', '[Service]\nExecStart=/bin/true\n', 'was not written by this verb'],
  ])('is kept where it is %s, unless it is forced', async (_how, there, reason) => {
    await writeFile(file(), there)
    await expect(writeUnitFile(file(), newer, false)).rejects.toThrow(reason)
    await expect(writeUnitFile(file(), newer, false)).rejects.toThrow(/--print .+ --force/)
    expect(await read()).toBe(there)
    const copy = await writeUnitFile(file(), newer, true)
    expect(await read()).toBe(newer)
    expect(await readFile(copy ?? '', 'utf8')).toBe(there)
  })

  it('is not written through a link, by which systemd masks units', async () => {
    await writeFile(join(folder.path, 'other'), 'kept')
    await symlink(join(folder.path, 'other'), file())
    await expect(writeUnitFile(file(), newer, false)).rejects.toThrow('may be masked')
    await writeUnitFile(file(), newer, true)
    expect(await readFile(join(folder.path, 'other'), 'utf8')).toBe('kept')
    expect(await read()).toBe(newer)
  })
})

const receiver = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True: print(s.recv(4096).decode().replace("\\n", " "), flush=True)
`

/** Starts a panel that reports to a socket; `heard` is what has come there, `end` ends the receiver. */
async function startNotifying(watchdogMicroseconds: string) {
  const socket = join(folder.path, 'notify')
  const listener = spawn('python3', ['-c', receiver, socket])
  let text = ''
  listener.stdout.on('data', (chunk) => (text += String(chunk)))
  await eventually(() => spawnSync('test', ['-S', socket]).status === 0)
  const panel = await startProcess('functions/all/start.js', {
    env: {
      PORT: '0',
      DATA_DIR: folder.data,
      DEMO: 'false',
      NOTIFY_SOCKET: socket,
      WATCHDOG_USEC: watchdogMicroseconds,
    },
    ready: /Roost serves at/,
  })
  return { panel, heard: () => text, end: () => listener.kill() }
}

describe.skipIf(!canListen)('a service', { timeout: 60_000 }, () => {
  it('says that it serves, that it is alive, and that it ends', async () => {
    const { panel, heard, end } = await startNotifying('1000000')
    await eventually(() => heard().includes('READY=1') && heard().split('WATCHDOG=1').length > 2)
    panel.child.kill('SIGHUP')
    await eventually(() => panel.output().includes('A single process cannot be replaced'))
    await panel.stop()
    expect(panel.child.exitCode).toBe(0)
    await eventually(() => heard().includes('STOPPING=1'))
    end()
  })

  it('is not alive while its event loop stands still', async () => {
    const { panel, heard, end } = await startNotifying('400000')
    await eventually(() => heard().includes('WATCHDOG=1'))
    panel.child.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 600))
    const before = heard()
    await new Promise((resolve) => setTimeout(resolve, 1200))
    expect(heard()).toBe(before)
    panel.child.kill('SIGCONT')
    await eventually(() => heard().length > before.length)
    await panel.stop()
    end()
  })
})
