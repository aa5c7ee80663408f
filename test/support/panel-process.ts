import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { makePanelFolder } from './panel-folder.ts'
import { type RunningProcess, startProcess } from './processes.ts'

export type WireAnswer = { status: number; body: any }

/** A whole panel in its own process, called over HTTP with the keys of its `bootstrap.json`. */
export type PanelProcess = {
  directory: string
  bootstrap: Bootstrap
  asAdmin: (method: string, path: string, body?: unknown) => Promise<WireAnswer>
  asPlayer: (method: string, path: string, body?: unknown) => Promise<WireAnswer>
  /** Stops the panel and starts it again on the same data. */
  restart: () => Promise<void>
  /** Kills the panel without a shutdown; `restart` brings it back. */
  kill: () => Promise<void>
  /** What the present process has printed. */
  output: () => string
  /** Starts another development daemon, for the node with this id. */
  startDaemon: (nodeId: number) => Promise<RunningProcess>
  stop: () => Promise<void>
}

/** A panel that can be called as its administrator. */
export type Administrated = Pick<PanelProcess, 'asAdmin'>

/** Starts `npm start`'s process on an empty directory of its own. */
export async function startPanelProcess(env: Record<string, string> = {}): Promise<PanelProcess> {
  const { path: directory, data, remove } = await makePanelFolder()
  const start = () =>
    startProcess('functions/all/start.js', {
      env: { PORT: '0', DATA_DIR: data, ...env },
      ready: /Roost serves at/,
    })
  const read = async () => JSON.parse(await readFile(join(data, 'bootstrap.json'), 'utf8')) as Bootstrap
  const daemons: RunningProcess[] = []
  let process = await start()
  const panel: PanelProcess = {
    directory,
    bootstrap: await read(),
    asAdmin: (...call) => send(panel, panel.bootstrap.application_key, '/api/application', ...call),
    asPlayer: (...call) => send(panel, panel.bootstrap.user.client_key, '/api/client', ...call),
    restart: async () => {
      await process.stop()
      process = await start()
      panel.bootstrap = await read()
    },
    kill: () => process.kill(),
    output: () => process.output(),
    startDaemon: async (nodeId) => {
      const { body } = await panel.asAdmin('GET', `/nodes/${nodeId}/configuration`)
      const file = join(directory, `node-${nodeId}.json`)
      await writeFile(file, JSON.stringify(body))
      const args = ['--config', file, '--data', join(directory, `node-${nodeId}`)]
      const daemon = await startProcess('src/dev/daemon/main.ts', {
        args,
        ready: /The daemon listens at/,
      })
      daemons.push(daemon)
      return daemon
    },
    stop: async () => {
      await Promise.all([...daemons, process].map((each) => each.stop()))
      await remove()
    },
  }
  return panel
}

async function send(
  panel: PanelProcess,
  key: string,
  base: string,
  method: string,
  path: string,
  body?: unknown,
) {
  const answer = await fetch(`${panel.bootstrap.url}${base}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json',
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

/** Finds a port of this machine on which nothing listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    // Below those that the system gives to outgoing connections, which may take a port before it is used.
    const port = 10_000 + Math.floor(Math.random() * 10_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
}

/** Builds the input of `POST /servers` for a server of the Demo egg on this allocation. */
export async function demoServer(panel: Administrated, user: number, allocation: number) {
  const nests = await panel.asAdmin('GET', '/nests?include=eggs.variables')
  const egg = nests.body.data
    .flatMap((nest: any) => nest.attributes.relationships.eggs.data)
    .find((item: any) => item.attributes.name === 'Demo').attributes
  return {
    name: 'First world',
    user,
    egg: egg.id,
    docker_image: egg.docker_image,
    startup: egg.startup,
    environment: Object.fromEntries(
      egg.relationships.variables.data.map(({ attributes }: any) => [
        attributes.env_variable,
        attributes.default_value,
      ]),
    ),
    limits: { memory: 256, swap: 0, disk: 512, io: 500, cpu: 100 },
    feature_limits: { databases: 1, backups: 0 },
    allocation: { default: allocation },
  }
}

/** Adds a node for another daemon on this machine, with allocations; returns its id and theirs. */
export async function addNode(panel: Administrated, name: string, ports: string, daemonListen?: number) {
  const location = await panel.asAdmin('POST', '/locations', { short: name, long: 'End to end' })
  const node = await panel.asAdmin('POST', '/nodes', {
    name,
    location_id: location.body.attributes.id,
    fqdn: '127.0.0.1',
    scheme: 'http',
    memory: 4096,
    memory_overallocate: 0,
    disk: 10_240,
    disk_overallocate: 0,
    daemonListen: daemonListen ?? (await freePort()),
    daemonSFTP: 2022,
  })
  const { id } = node.body.attributes
  await panel.asAdmin('POST', `/nodes/${id}/allocations`, { ip: '127.0.0.1', ports: [ports] })
  const made = await panel.asAdmin('GET', `/nodes/${id}/allocations`)
  return { id: id as number, allocations: made.body.data.map((item: any) => item.attributes.id) as number[] }
}
