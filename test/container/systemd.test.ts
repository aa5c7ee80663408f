import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findContainers } from '../support/container/containers.ts'
import { buildMachine, type Machine, startMachine } from '../support/container/machine.ts'
import { documentedCommand } from '../support/documented-commands.ts'
import { startLoad } from '../support/load.ts'
import { eventually } from '../support/processes.ts'

const containers = findContainers('the unit below a running systemd')
const minutes = (count: number) => ({ timeout: count * 60_000 })

const variables = {
  APP_URL: 'https://panel.example.com',
  // Reached from outside of the machine by the test, instead of by a proxy on it.
  HOST: '0.0.0.0',
  DATABASE_URL: 'postgres://roost:secret@unit-database/roost',
  PROCESSES: '2',
  TRUSTED_PROXIES: '1',
}
/** The command of the page that begins like this, in a shell, with more variables. */
const written = (beginning: string, variables: string[] = []) => [
  'env',
  ...variables,
  'sh',
  '-c',
  documentedCommand('docs/systemd.md', beginning),
]
/** What sudo does for root. */
const sudo = '#!/bin/sh\n[ "$1" = -E ] && shift\nexec "$@"\n'

describe.skipIf(containers === null)('the unit below a running systemd', () => {
  // Not run without one.
  const { engine, images } = containers as NonNullable<typeof containers>
  const names = ['unit-machine', 'unit-database']
  let machine: Machine

  beforeAll(async () => {
    await buildMachine(engine)
    await engine.docker('network', 'create', 'unit')
    const password = join(engine.folder, 'unit-password')
    await writeFile(password, 'secret')
    const settings = {
      POSTGRES_USER: 'roost',
      POSTGRES_DB: 'roost',
      POSTGRES_PASSWORD_FILE: '/run/password',
    }
    const place = ['--name', 'unit-database', '--network', 'unit', '-v', `${password}:/run/password:ro`]
    await engine.docker(
      'run',
      '-d',
      ...place,
      ...Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
      images.postgres,
    )
    machine = await startMachine(engine, 'unit-machine', 'unit')
  }, 300_000)
  afterAll(async () => {
    await engine.docker('rm', '-f', '-v', ...names).catch(() => undefined)
    await engine.docker('network', 'rm', 'unit').catch(() => undefined)
  }, 120_000)

  const health = () => fetch(`http://127.0.0.1:${machine.port}/health`).then(({ status }) => status)
  const state = () => machine.property('ActiveState')
  /** Ids of the process that systemd has started, and of those that it has. */
  async function processes() {
    const main = await machine.property('MainPID')
    return {
      main,
      workers: (await machine.run('pgrep', '-P', main, '-x', 'node|MainThread')).trim().split('\n'),
    }
  }

  /** Waits until systemd has started the unit again by itself. */
  async function startedAgain(restarts: string): Promise<void> {
    await eventually(
      async () => (await machine.property('NRestarts')) !== restarts && (await state()) === 'active',
      90,
    )
    expect(await health()).toBe(200)
  }

  it('is written by service:install, once there are variables', minutes(2), async () => {
    const place = '/usr/bin/sudo'
    await machine.run('sh', '-c', `printf '%s' "$1" > ${place} && chmod 755 ${place}`, 'sh', sudo)
    const install = () =>
      machine.run(...written('sudo node /opt/roost/dist/server/panel.mjs service:install'))
    await expect(install()).rejects.toThrow('/etc/roost/panel.env is missing: make it with the verb setup')
    const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    // It checks the database, which may still be starting.
    const said = await eventually(() => machine.run(...written('sudo -E sh -c', given)).catch(() => null), 60)
    expect(said).toContain('node /opt/roost/dist/server/main.mjs')
    expect(await install()).toContain('/etc/systemd/system/roost.service was written.')
    expect(await machine.property('LoadState')).toBe('loaded')
    // Again, since it is as it was written; not once it was changed.
    expect(await install()).toContain('/etc/systemd/system/roost.service was written.')
    const unit = '/etc/systemd/system/roost.service'
    await machine.run('sh', '-c', `echo Nice=5 >> ${unit}`)
    await expect(install()).rejects.toThrow(`${unit} was changed since it was written`)
    expect(await machine.run('tail', '-1', unit)).toBe('Nice=5\n')
    const forced = await machine.run('sh', '-c', `${written('sudo node').at(-1)} --force`)
    expect(forced).toMatch(/What was there is \S+\.replaced-/)
    expect(await machine.run('sh', '-c', `tail -qn1 ${unit}.replaced-*`)).toBe('Nice=5\n')
  })

  it('is starting while the database is away, and active as soon as it serves', minutes(2), async () => {
    await engine.docker('stop', 'unit-database')
    await machine.systemctl('enable', '--now', '--no-block', 'roost')
    await eventually(
      async () => (await machine.journal()).includes('The database is away: the start waits'),
      60,
    )
    expect(await state()).toBe('activating')
    await engine.docker('start', 'unit-database')
    await eventually(async () => (await state()) === 'active', 60)
    expect(await health()).toBe(200)
    expect(await machine.journal()).toMatch(/\/auth\/setup\n\s+[A-Z0-9]{4}(-[A-Z0-9]{4}){3}\n/)
  })

  it('runs as an account made for it, which can write its state alone', async () => {
    const { main } = await processes()
    const status = await machine.run('cat', `/proc/${main}/status`)
    const [, account] = /^Uid:\t(\d+)/m.exec(status) ?? []
    expect(Number(account)).toBeGreaterThan(60_000)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status.match(/^Cap(Prm|Eff|Bnd):\t0+$/gm)).toHaveLength(3)
    const as = (id: string, ...args: string[]) =>
      machine.run('nsenter', '-t', main, '-m', 'setpriv', '--reuid', id, '--clear-groups', ...args)
    await as(account ?? '', 'touch', '/var/lib/roost/written')
    await expect(as(account ?? '', 'cat', '/etc/roost/panel.env')).rejects.toThrow('Permission denied')
    const elsewhere = ['/etc/x', '/opt/roost/dist/x', '/usr/bin/x', '/var/lib/x', '/home/x', '/root/x']
    for (const path of elsewhere)
      // Not even root can, where the service looks.
      await expect(as('0', 'touch', path)).rejects.toThrow('Read-only file system')
  })

  it('replaces its processes at a reload without a lost request', minutes(2), async () => {
    const before = await processes()
    const load = startLoad({ ports: [machine.port], path: '/health', token: 'none', callers: 4 })
    try {
      await load.answers(20)
      await machine.run(...written('systemctl reload roost'))
      // systemd calls the unit reloaded once the signal is sent; the panel then tells how far it is.
      await eventually(async () => {
        const { workers } = await processes()
        return workers.length === 2 && !workers.some((id) => before.workers.includes(id))
      }, 60)
      await load.answers(20)
    } finally {
      await load.stop()
    }
    expect(Object.keys(load.counts)).toEqual(['200'])
    expect((await processes()).main).toBe(before.main)
    await eventually(async () => (await state()) === 'active')
  })

  it('is active again after a restart, with other processes', minutes(2), async () => {
    const before = await processes()
    await machine.run(...written('systemctl restart roost'))
    expect(await state()).toBe('active')
    expect(await health()).toBe(200)
    expect((await processes()).main).not.toBe(before.main)
  })

  it('is started again when it is killed', minutes(2), async () => {
    const restarts = await machine.property('NRestarts')
    const { main } = await processes()
    await machine.run('kill', '-KILL', main)
    await startedAgain(restarts)
    expect((await processes()).main).not.toBe(main)
  })

  it.each(['the process that systemd has started', 'one of its processes'])(
    'is started again by the watchdog when %s stands still',
    minutes(2),
    async (which) => {
      const folder = '/etc/systemd/system/roost.service.d'
      const soon = '[Service]\\nWatchdogSec=4\\nRestartSec=0\\n'
      await machine.run('sh', '-c', `mkdir -p ${folder} && printf '${soon}' > ${folder}/soon.conf`)
      await machine.systemctl('daemon-reload')
      await machine.systemctl('restart', 'roost')
      const restarts = await machine.property('NRestarts')
      const { main, workers } = await processes()
      await machine.run('kill', '-STOP', which.startsWith('one') ? (workers[0] ?? '') : main)
      await startedAgain(restarts)
      expect(await machine.journal()).toContain("Failed with result 'watchdog'")
    },
  )

  it('ends in order when it is stopped', minutes(2), async () => {
    await machine.systemctl('stop', 'roost')
    expect(await state()).toBe('inactive')
    expect(await machine.property('Result')).toBe('success')
    expect(await machine.property('ExecMainStatus')).toBe('0')
    const log = await machine.journal()
    const ended = log.slice(log.lastIndexOf('Stopping roost.service'))
    expect(ended).toContain('The panel is shutting down.')
    expect(ended).toContain('roost.service: Deactivated successfully.')
  })

  it('is looked after by the commands of docs/systemd.md', minutes(2), async () => {
    await machine.run(...written('sudo systemctl enable --now roost'))
    expect(await state()).toBe('active')
    expect(await machine.run(...written('journalctl -u roost'))).toContain('Roost serves at')
    expect(await machine.run(...written('journalctl -u roost -o cat'))).toMatch(/^\{"time":/m)
    expect(await machine.run(...written('systemd-analyze security roost'))).toContain(
      'Overall exposure level for roost.service',
    )
    // It fails, since nothing answers at APP_URL here.
    const checked = await machine.run(...written("sudo sh -c 'set -a")).catch(String)
    expect(checked).toMatch(/^ok +database/m)
  })
})
