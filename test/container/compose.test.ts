import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import journal from '../../drizzle/meta/_journal.json' with { type: 'json' }
import { version } from '../../src/version.ts'
import { findContainers } from '../support/container/containers.ts'
import { panelImage } from '../support/container/images.ts'
import { type Installation, openInstallation } from '../support/container/installation.ts'
import { eventually } from '../support/processes.ts'

const containers = findContainers('the image and compose.yaml')

const maxImageBytes = 220e6
const memoryLimit = 512 * 1024 ** 2
const minutes = (count: number) => ({ timeout: count * 60_000 })

describe.skipIf(containers === null)('the image and compose.yaml', () => {
  // Not run without one.
  const { engine, images } = containers as NonNullable<typeof containers>
  let roost: Installation
  /** An Application key of the first administrator. */
  let key: string

  beforeAll(async () => {
    roost = openInstallation(engine, images, 'roost')
    const startedAt = performance.now()
    await roost.compose('up', '-d', 'secrets', 'panel', 'database', 'caddy')
    await roost.ready()
    console.info(`first start to ready: ${Math.round(performance.now() - startedAt)} ms`)
  }, 1_200_000)
  afterAll(async () => {
    await roost?.compose('down', '--volumes', '--remove-orphans').catch(() => undefined)
  }, 120_000)

  const inspect = async (name: string) => JSON.parse(await engine.docker('inspect', name))[0]
  const panel = (...args: string[]) => roost.compose('exec', '-T', 'panel', 'panel', ...args)
  const evaluate = (code: string) => roost.compose('exec', '-T', 'panel', 'node', '-e', code)
  const application = (method: string, path: string, body?: unknown) =>
    roost.send(method, `/api/application${path}`, { key, ...(body === undefined ? {} : { body }) })

  /** Runs the panel as the compose file does, with other volumes, until it ends. */
  async function runUntilEnd(...options: string[]): Promise<{ code: number; output: string }> {
    const { Config } = await inspect(await roost.container('panel'))
    const variables = (Config.Env as string[]).flatMap((line) => ['-e', line])
    const name = `refused-${Math.random().toString(36).slice(2)}`
    const common = [
      '--name',
      name,
      '--network',
      `${roost.project}_default`,
      '--read-only',
      '--cap-drop',
      'ALL',
    ]
    const secrets = options.some((option) => option.endsWith(':/secrets'))
      ? []
      : ['-v', `${roost.project}_secrets:/secrets`]
    await engine.docker('run', '-d', ...common, ...variables, ...secrets, ...options, panelImage)
    try {
      return { code: Number(await engine.docker('wait', name)), output: await engine.docker('logs', name) }
    } finally {
      await engine.docker('rm', '-f', '-v', name)
    }
  }

  it('is small, and says what it is', async () => {
    const { Size, Config } = await inspect(panelImage)
    console.info(`image: ${Math.round(Size / 1e6)} MB`)
    expect(Size).toBeLessThanOrEqual(maxImageBytes)
    expect(Config.User).toBe('65532:65532')
    expect(Config.StopSignal).toBe('SIGTERM')
    expect(Config.Healthcheck.Test).toEqual(['CMD', 'node', '/app/container/health.mjs'])
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Roost',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'MIT',
    })
  })

  it('leads from its log to the first administrator, behind HTTPS', async () => {
    // It serves before it has written this.
    const log = await eventually(async () => {
      const lines = await roost.logs('panel')
      return lines.includes('https://localhost/auth/setup') && lines
    })
    expect(log).toContain('docker compose exec panel panel user:create')
    expect(log).toMatch(/\b[A-Z0-9]{4}(-[A-Z0-9]{4}){3}\b/)
    const page = await roost.send('GET', '/auth/setup')
    expect(page.status).toBe(200)
    expect(page.body).toContain('<!doctype html>')
    const created = await panel(
      'user:create',
      '--email',
      'ada@example.com',
      '--username',
      'ada',
      '--admin',
      '--json',
    )
    expect(JSON.parse(created)).toMatchObject({ username: 'ada' })
    key = JSON.parse(await panel('key:create', '--user', 'ada', '--type', 'application', '--json')).token
    expect((await application('GET', '/users')).status).toBe(200)
  })

  it('runs as a user of its own, and can write to its volume alone', async () => {
    expect((await evaluate('console.log(process.getuid(), process.getgid())')).trim()).toBe('65532 65532')
    const write = `for (const path of ['/app/dist/x', '/etc/x', '/data/x', '/secrets/x', '/tmp/x'])
      try { require('fs').writeFileSync(path, ''); console.log(path) } catch (error) { console.log(error.code) }`
    expect((await evaluate(write)).trim().split(/\s+/)).toEqual([
      'EROFS',
      'EROFS',
      '/data/x',
      'EROFS',
      '/tmp/x',
    ])
    const { HostConfig } = await inspect(await roost.container('panel'))
    expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'], Memory: memoryLimit })
    const secrets = `console.log((require('fs').statSync('/secrets/pgpass').mode & 0o777).toString(8))`
    expect((await evaluate(secrets)).trim()).toBe('600')
  })

  it('gives a node its configuration', async () => {
    const location = JSON.parse((await application('POST', '/locations', { short: 'here' })).body)
    const node = await application('POST', '/nodes', {
      name: 'one',
      location_id: location.attributes.id,
      scheme: 'https',
      fqdn: 'node.localhost',
      behind_proxy: true,
      daemonListen: 443,
      daemonSFTP: 2022,
      memory: 1024,
      memory_overallocate: 0,
      disk: 1024,
      disk_overallocate: 0,
    })
    expect(node.status).toBe(201)
    const configuration = parse(await panel('node:configure', 'one'))
    expect(configuration).toMatchObject({
      api: { port: 443, ssl: { enabled: false } },
      remote: 'https://localhost',
    })
    expect(await roost.compose('--profile', 'node', 'config', '--services')).toMatch(/^wings$/m)
    const { wings } = parse(await readFile('compose.yaml', 'utf8')).services
    // Docker starts servers by paths of the machine, so each has to be the same inside.
    const folders = (wings.volumes as string[]).map((volume) => volume.replace(/:ro$/, '').split(':'))
    expect(folders.filter(([outside, inside]) => outside !== inside)).toEqual([])
    const inside = folders.map(([folder = '']) => folder)
    expect(inside).toContain('/var/run/docker.sock')
    // Its file, what the file names, and what Wings has by itself.
    const used = [
      '/etc/pterodactyl/config.yml',
      configuration.system.data,
      '/var/log/pterodactyl/wings.log',
      '/tmp/pterodactyl/x',
    ]
    for (const path of used) expect(inside.filter((folder) => path.startsWith(folder))).toHaveLength(1)
    expect(wings.ports).toEqual([`${configuration.system.sftp.bind_port}:2022`])
    const proxied = await readFile('container/Caddyfile', 'utf8')
    expect(proxied).toContain(`reverse_proxy wings:${configuration.api.port}\n`)
  })

  it('is healthy while the database answers, and only then', minutes(2), async () => {
    const probe = () => roost.compose('exec', '-T', 'panel', 'node', '/app/container/health.mjs')
    expect(await probe()).toContain('"status":"ok"')
    await eventually(
      async () => (await inspect(await roost.container('panel'))).State.Health.Status === 'healthy',
      60,
    )
    await roost.compose('pause', 'database')
    try {
      await eventually(
        () =>
          probe().then(
            () => false,
            () => true,
          ),
        60,
      )
    } finally {
      await roost.compose('unpause', 'database')
    }
    await roost.ready()
  })

  it('ends with 0 when it is stopped, and keeps everything', minutes(3), async () => {
    const container = await roost.container('panel')
    await roost.compose('stop', 'panel')
    expect((await inspect(container)).State).toMatchObject({ ExitCode: 0, OOMKilled: false })
    expect(await roost.logs('panel')).toContain('The panel is shutting down.')
    await roost.compose('down')
    const startedAt = performance.now()
    await roost.compose('up', '-d', 'secrets', 'panel', 'database', 'caddy')
    const again = openInstallation(engine, images, 'roost')
    await again.ready()
    console.info(`containers made again to ready: ${Math.round(performance.now() - startedAt)} ms`)
    roost = again
    expect((await application('GET', '/nodes/1')).status).toBe(200)
    expect(await panel('node:configure', 'one')).toContain('token: ')
  })

  it('is ready soon on a database that exists', minutes(2), async () => {
    const container = await roost.container('panel')
    const { Networks } = (await inspect(container)).NetworkSettings
    const address = Networks[`${roost.project}_default`].IPAddress
    const times: number[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      await engine.docker('stop', container)
      const startedAt = performance.now()
      await engine.docker('start', container)
      await eventually(async () => {
        const answer = await fetch(`http://${address}:8080/health`).catch(() => null)
        return answer?.status === 200
      }, 60)
      times.push(Math.round(performance.now() - startedAt))
    }
    console.info(`docker start to ready: ${times.join(', ')} ms`)
    await roost.ready()
  })

  it('starts again by itself when it is killed', minutes(2), async () => {
    const container = await roost.container('panel')
    const before = (await inspect(container)).State.Pid as number
    process.kill(before, 'SIGKILL')
    await eventually(async () => {
      const { State, RestartCount } = await inspect(container)
      return State.Running && State.Pid !== before && RestartCount === 1
    }, 60)
    await roost.ready()
    expect((await application('GET', '/nodes/1')).status).toBe(200)
  })

  it('waits for a database that is away at its start, and says so', minutes(3), async () => {
    await roost.compose('stop', 'database')
    await roost.compose('restart', 'panel')
    await eventually(
      async () => (await roost.logs('panel')).includes('The database is away: the start waits for it.'),
      60,
    )
    await roost.compose('start', 'database')
    await roost.ready()
  })

  it('serves on when the database restarts under load', minutes(3), async () => {
    const before = (await inspect(await roost.container('panel'))).State.Pid
    const statuses = new Set<number>()
    let isLoaded = true
    const load = Array.from({ length: 8 }, async () => {
      while (isLoaded) statuses.add((await application('GET', '/nodes')).status)
    })
    try {
      await roost.compose('restart', 'database')
      await roost.ready()
      await eventually(async () => (await application('GET', '/nodes')).status === 200)
    } finally {
      isLoaded = false
      await Promise.all(load)
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
    const { State, HostConfig } = await inspect(await roost.container('panel'))
    expect(State).toMatchObject({ Pid: before, OOMKilled: false })
    expect(HostConfig.Memory).toBe(memoryLimit)
  })

  describe('with other volumes ends with what to do', () => {
    it.each([
      [
        'a new one for its data',
        ['-v', 'other:/data'],
        'The keys of /data/secrets.json differ from those of the panel on',
      ],
      [
        'a read-only one',
        ['-v', 'empty:/data:ro'],
        'DATA_DIR /data cannot be written: its disk is read-only (EROFS). Mount it writable',
      ],
      [
        'that of the database',
        ['-v', 'roost_database:/data'],
        'DATA_DIR /data cannot be written (EACCES). Make it writable',
      ],
    ])('%s', minutes(2), async (_what, volumes, message) => {
      const { code, output } = await runUntilEnd(...volumes)
      expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(message) })
    })

    it.each([
      ['without the password of the database', 'nothing', null],
      ['with another password', 'another', '*:*:*:roost:another'],
    ])('%s', minutes(2), async (_what, volume, pgpass) => {
      if (pgpass !== null) {
        const write = `require('fs').writeFileSync('/secrets/pgpass', '${pgpass}', { mode: 0o600 })`
        await engine.docker(
          'run',
          '--rm',
          '-v',
          `${volume}:/secrets`,
          '--entrypoint',
          'node',
          panelImage,
          '-e',
          write,
        )
      }
      const { code, output } = await runUntilEnd('-v', `${volume}:/secrets`, '-v', 'unused:/data')
      expect({ code, output }).toEqual({
        code: 1,
        output: expect.stringContaining('PostgreSQL refuses the account of DATABASE_URL'),
      })
    })
  })

  it('is upgraded over the data of an older image, and goes back', minutes(4), async () => {
    const folder = await mkdtemp(join(engine.folder, 'newer-'))
    const last = journal.entries.at(-1)
    if (!last) throw new Error('There is no migration.')
    const added = { ...last, idx: last.idx + 1, when: last.when + 1, tag: 'newer' }
    await writeFile(
      join(folder, '_journal.json'),
      JSON.stringify({ ...journal, entries: [...journal.entries, added] }),
    )
    await writeFile(join(folder, 'newer.sql'), 'create table of_a_newer_version (id int);')
    const copies = 'COPY newer.sql /app/dist/drizzle/\nCOPY _journal.json /app/dist/drizzle/meta/\n'
    await writeFile(join(folder, 'Dockerfile'), `FROM ${panelImage}\n${copies}`)
    await engine.docker('tag', panelImage, 'roost-older')
    await engine.docker('build', '-t', 'roost-newer', folder)

    await engine.docker('tag', 'roost-newer', panelImage)
    await roost.compose('up', '-d', 'panel')
    await roost.ready()
    expect((await application('GET', '/nodes/1')).status).toBe(200)
    const tables = await roost.compose(
      'exec',
      '-T',
      'database',
      'psql',
      '-U',
      'roost',
      '-c',
      '\\dt of_a_newer_version',
    )
    expect(tables).toContain('of_a_newer_version')

    await engine.docker('tag', 'roost-older', panelImage)
    await roost.compose('up', '-d', 'panel')
    await roost.ready()
    expect(await roost.logs('panel')).toContain('A newer version has migrated the database.')
    const node = JSON.parse((await application('GET', '/nodes/1')).body)
    expect(
      (await application('PATCH', '/nodes/1', { ...node.attributes, description: 'older' })).status,
    ).toBe(200)
  })
})
