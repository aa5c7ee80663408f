import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasDemo } from '../../src/platform/demo-places.ts'
import { readEnv } from '../../src/platform/env.ts'
import { openPostgres } from '../../src/platform/postgres.ts'
import { nodes, users } from '../../src/db/schema.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { makePanelFolder, type PanelFolder } from '../support/panel-folder.ts'
import { demoServer, freePort, type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

const isRoot = process.getuid?.() === 0
const hasPostgres = await findPostgres('a deployed panel over an empty database')

type Variables = Record<string, string>

describe('the demo is on by default only where everything is on loopback', () => {
  it.each<Variables>([
    {},
    { APP_URL: 'http://localhost:8080' },
    { APP_URL: 'http://127.1:8080' },
    { APP_URL: 'http://2130706433' },
    { APP_URL: 'http://[::ffff:127.0.0.1]:8080' },
    { APP_URL: 'http://[::ffff:127.0.0.1]:8080', HOST: '::1' },
    { HOST: 'localhost' },
    { HOST: '127.0.0.2' },
    { HOST: '::1' },
    { HOST: '::ffff:127.0.0.1' },
    { DATABASE_URL: 'postgres://user@127.0.0.1/panel' },
    { DATABASE_URL: 'postgres://user@[::1]:5433/panel' },
    { DATABASE_URL: 'postgres:///panel?host=/var/run/postgresql' },
    { DATABASE_URL: 'postgres://user@%2Fvar%2Frun%2Fpostgresql/panel' },
  ])('%j', (variables) => {
    expect(hasDemo(readEnv(variables))).toBe(true)
    expect(() => readEnv({ ...variables, DEMO: 'true' })).not.toThrow()
    expect(hasDemo(readEnv({ ...variables, DEMO: 'false' }))).toBe(false)
  })
})

describe('DEMO=true is refused, and the demo is off by default', () => {
  it.each<[Variables, string]>([
    [{ APP_URL: 'https://panel.example.com' }, 'APP_URL is'],
    [{ APP_URL: 'http://192.168.1.5:8080' }, 'APP_URL is'],
    [{ APP_URL: 'http://127.0.0.1.example.com' }, 'APP_URL is'],
    [{ APP_URL: 'http://0.0.0.0:8080' }, 'APP_URL is'],
    [{ APP_URL: 'http://[::ffff:127.0.0.1]:8080', HOST: '0.0.0.0' }, 'APP_URL, HOST are'],
    [{ HOST: '0.0.0.0' }, 'HOST is'],
    [{ HOST: '::' }, 'HOST is'],
    [{ HOST: 'panel' }, 'HOST is'],
    [{ HOST: '10.0.0.7', APP_URL: 'http://localhost:8080' }, 'HOST is'],
    [{ DATABASE_URL: 'postgres://user@db.example/panel' }, 'DATABASE_URL is'],
    [{ DATABASE_URL: 'postgres://user@127.0.0.1/panel?host=db.example' }, 'DATABASE_URL is'],
    [{ DATABASE_URL: 'postgres://user@localhost/panel?host=localhost&host=db.example' }, 'DATABASE_URL is'],
    [{ DATABASE_URL: 'postgres:///panel' }, 'DATABASE_URL is'],
    [
      { DATABASE_URL: 'postgres://user@localhost/panel', NEON_LOCAL_PROXY: 'proxy:4444' },
      'NEON_LOCAL_PROXY is',
    ],
  ])('%j', (variables, places) => {
    expect(hasDemo(readEnv(variables))).toBe(false)
    expect(() => readEnv({ ...variables, DEMO: 'true' })).toThrow(
      `DEMO: must not be true while ${places} not on loopback, since the demo runs game servers on this machine without isolation`,
    )
  })
})

describe('the development daemon of a demo', () => {
  let panel: PanelProcess
  beforeAll(async () => void (panel = await startPanelProcess()), 120_000)
  afterAll(() => panel?.stop())

  const serverPath = () => `/servers/${panel.bootstrap.server.identifier}`
  const powerOf = async (path: string, signal: string) =>
    expect((await panel.asPlayer('POST', `${path}/power`, { signal })).status).toBe(204)
  const stateOf = async (path: string) =>
    (await panel.asPlayer('GET', `${path}/resources`)).body.attributes?.current_state

  /** Creates a server with an egg of this name for the player; returns its identifier. */
  async function createServer(eggName: string) {
    const eggs = (await panel.asAdmin('GET', '/nests?include=eggs.variables')).body.data
      .flatMap((nest: any) => nest.attributes.relationships.eggs.data)
      .map((item: any) => item.attributes)
    const egg = eggs.find((each: any) => each.name === eggName)
    const { body: allocations } = await panel.asAdmin(
      'GET',
      `/nodes/${panel.bootstrap.node.id}/allocations?per_page=50`,
    )
    const free = allocations.data.find((item: any) => !item.attributes.assigned).attributes
    const { body: owners } = await panel.asAdmin('GET', '/users?filter[username]=player')
    const demo = await demoServer(panel, owners.data[0].attributes.id, free.id)
    const { status, body } = await panel.asAdmin('POST', '/servers', {
      ...demo,
      name: eggName,
      egg: egg.id,
      docker_image: egg.docker_image,
      startup: egg.startup,
      environment: Object.fromEntries(
        egg.relationships.variables.data.map(({ attributes }: any) => [
          attributes.env_variable,
          attributes.default_value,
        ]),
      ),
    })
    expect(status, JSON.stringify(body)).toBe(201)
    return {
      path: `/servers/${body.attributes.identifier}`,
      id: body.attributes.id as number,
      port: free.port,
    }
  }
  const installationOf = (id: number) =>
    eventually(async () => {
      const { status } = (await panel.asAdmin('GET', `/servers/${id}`)).body.attributes
      return status === 'installing' ? null : { status }
    })

  it('is announced as what is for trying only, without isolation', () => {
    expect(panel.output()).toContain('No isolation, for trying only: game servers run on this machine as ')
  })

  it.runIf(isRoot)(
    'runs the daemon and game servers as an unprivileged user under root, who can use their files',
    async () => {
      await powerOf(serverPath(), 'start')
      await eventually(async () => (await stateOf(serverPath())) === 'running')
      const { pid, folder } = await eventually(() => findServerProcess(panel.bootstrap.server.uuid))
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m)
      expect(status).toMatch(/^Groups:\t *$/m)
      const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1]
      expect(await readFile(`/proc/${parent}/status`, 'utf8')).toMatch(/^Uid:\t65534\t/m)
      const written = await panel.asPlayer('POST', `${serverPath()}/files/write?file=a/b.txt`, { hello: 1 })
      expect(written.status).toBe(204)
      expect((await stat(join(folder, 'a', 'b.txt'))).uid).toBe(65_534)
      expect((await stat(join(panel.directory, 'data'))).mode & 0o077).toBe(0)
      await powerOf(serverPath(), 'stop')
      await eventually(async () => (await stateOf(serverPath())) === 'offline')
    },
  )

  it('installs and runs the Node.js egg, whose script leaves the machine alone', async () => {
    const { id, path, port } = await createServer('Node.js')
    expect(await installationOf(id)).toEqual({ status: null })
    await powerOf(path, 'start')
    const text = await eventually(async () =>
      fetch(`http://127.0.0.1:${port}`).then(
        (answer) => answer.text(),
        () => null,
      ),
    )
    expect(text).toBe('It works.\n')
    await powerOf(path, 'kill')
  })

  it('never runs the script of an egg that does not declare the local runtime', async () => {
    const { id } = await createServer('Velocity')
    expect(await installationOf(id)).toEqual({ status: 'install_failed' })
    expect(panel.output()).toContain('it runs only eggs with the feature local_runtime')
  })

  it('ends with a panel that is killed, and so do the game servers', async () => {
    await powerOf(serverPath(), 'start')
    await eventually(async () => (await stateOf(serverPath())) === 'running')
    const { pid } = await eventually(() => findServerProcess(panel.bootstrap.server.uuid))
    await panel.kill()
    await eventually(() => !isAlive(pid))
    await eventually(() => isPortFree(Number(new URL(panel.bootstrap.node.daemon_url).port)))
    await panel.restart()
    await eventually(async () => (await stateOf(serverPath())) === 'running')
  }, 120_000)
})

describe.skipIf(!hasPostgres)('a panel with a public APP_URL and an empty external database', () => {
  let folder: PanelFolder
  let created: Awaited<ReturnType<typeof createDatabase>>
  let running: RunningProcess | undefined
  beforeAll(async () => {
    folder = await makePanelFolder()
    created = await createDatabase()
  })
  afterEach(() => running?.kill())
  afterAll(async () => {
    await created?.drop()
    await folder?.remove()
  })

  it('starts without a demo and a daemon, and says how to make the first administrator', async () => {
    const port = await freePort()
    const env = {
      APP_URL: 'https://panel.example.com',
      DATABASE_URL: created.url,
      DATA_DIR: folder.data,
      PORT: String(port),
    }
    const start = async () => {
      running = await startProcess('functions/all/start.js', { env, ready: /Roost serves at .*\n/ })
      return running
    }
    const first = await start()
    expect(first.output()).toContain('Roost serves at https://panel.example.com\n')
    expect(first.output()).toContain('npm run panel -- user:create --email')
    expect(first.output()).toMatch(
      /https:\/\/panel\.example\.com\/auth\/setup\n +([\dA-Z]{4}-){3}[\dA-Z]{4}\n/,
    )
    const database = openPostgres(created.url, 1)
    try {
      expect(await Promise.all([database.db.$count(users), database.db.$count(nodes)])).toEqual([0, 0])
    } finally {
      await database.close()
    }
    expect(await findChildren(first.child.pid ?? 0)).toEqual([])
    const health = await fetch(`http://127.0.0.1:${port}/health`)
    expect([health.status, (await health.json()).status]).toEqual([200, 'ok'])
    await first.stop()
    expect(first.child.exitCode).toBe(0)
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow('fetch failed')

    const command = await startProcess('src/cli/start.js', {
      args: ['user:create', '--email', 'ada@example.com', '--username', 'ada', '--admin'],
      env,
      ready: /ada/,
    })
    if (command.child.exitCode === null) await eventually(() => command.child.exitCode !== null)
    expect(command.child.exitCode).toBe(0)
    expect((await start()).output()).not.toContain('user:create')
  }, 120_000)
})

/** Finds the process that runs in the folder of a server. */
async function findServerProcess(uuid: string): Promise<{ pid: number; folder: string } | null> {
  for (const entry of await readdir('/proc')) {
    const folder = await readlink(`/proc/${entry}/cwd`).catch(() => '')
    if (folder.endsWith(`/volumes/${uuid}`)) return { pid: Number(entry), folder }
  }
  return null
}

async function findChildren(pid: number): Promise<string[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.split(' ').filter(Boolean)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const isPortFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
