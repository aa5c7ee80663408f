import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from './panel-process.ts'
import { connectRedis, type Reply } from './redis-client.ts'
import { eventually } from './processes.ts'

const run = promisify(execFile)
const certificate = (name: string) => fileURLToPath(new URL(`certificates/${name}`, import.meta.url))

/** A `redis-server` of this machine in a folder of its own. */
export type RedisServer = {
  port: number
  send: (...command: (string | number)[]) => Promise<Reply>
  /** Ends it with SIGKILL, as a machine that loses its power. */
  kill: () => Promise<void>
  close: () => Promise<void>
}

/** Looks for the program `redis-server`; prints when suites are skipped. */
export async function findRedisServer(suite: string): Promise<boolean> {
  const isThere = await run('redis-server', ['--version']).then(
    () => true,
    () => false,
  )
  if (!isThere) console.log(`SKIPPED ${suite}: no redis-server on this machine.`)
  return isThere
}

/** Starts a server that keeps nothing on the disk; `options` are lines of its configuration. */
export async function startRedisServer(options: string[] = []): Promise<RedisServer> {
  const port = await freePort()
  return startProgram(port, ['--port', String(port), '--save', '', ...options])
}

/** Lines of a configuration that offers TLS at a port, also to other servers. The certificate is `<name>.crt`. */
export const tlsLines = (port: number, name = 'localhost'): string[] => [
  `tls-port ${port}`,
  `tls-cert-file ${certificate(`${name}.crt`)}`,
  `tls-key-file ${certificate(`${name}.key`)}`,
  `tls-ca-cert-file ${certificate(`${name}.crt`)}`,
  'tls-auth-clients no',
  'tls-replication yes',
]

/** The same as arguments of the program. */
export const tlsOptions = (port: number, name?: string): string[] =>
  tlsLines(port, name).flatMap((line) => `--${line}`.split(' '))

/** Starts a sentinel that watches the master `panel` at a port, and fails over after a second. */
export async function startSentinel(
  master: number,
  password: string,
  quorum: number,
  more: string[] = [],
): Promise<RedisServer> {
  const port = await freePort()
  const directory = await mkdtemp(join(tmpdir(), 'roost-sentinel-'))
  const file = join(directory, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    'sentinel resolve-hostnames no',
    `sentinel monitor panel 127.0.0.1 ${master} ${quorum}`,
    `sentinel auth-pass panel ${password}`,
    'sentinel down-after-milliseconds panel 1000',
    'sentinel failover-timeout panel 5000',
    ...more,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  const sentinel = await startProgram(port, [file, '--sentinel'])
  return {
    ...sentinel,
    close: async () => {
      await sentinel.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Starts the masters of a cluster, which share the slots. */
export async function startRedisCluster(size: number): Promise<RedisServer[]> {
  const nodes = await Promise.all(Array.from({ length: size }, () => startRedisServer(clusterOptions)))
  await joinCluster(
    nodes,
    nodes.map(({ port }) => port),
  )
  return nodes
}

/** The same over TLS, at the ports that `ports` has; programs reach them without it. */
export async function startTlsCluster(size: number): Promise<{ nodes: RedisServer[]; ports: number[] }> {
  const ports = await Promise.all(Array.from({ length: size }, freePort))
  const options = [...clusterOptions, '--tls-cluster', 'yes']
  const nodes = await Promise.all(ports.map((port) => startRedisServer([...options, ...tlsOptions(port)])))
  await joinCluster(nodes, ports, ['--tls', '--cacert', certificate('localhost.crt')])
  return { nodes, ports }
}

const clusterOptions = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']

async function joinCluster(nodes: RedisServer[], ports: number[], more: string[] = []): Promise<void> {
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  await run('redis-cli', [...more, '--cluster', 'create', ...addresses, '--cluster-yes'])
  await eventually(async () => {
    const states = await Promise.all(nodes.map((node) => node.send('CLUSTER', 'INFO')))
    return states.every((state) => String(state).includes('cluster_state:ok'))
  })
}

async function startProgram(port: number, args: string[]): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'roost-redis-'))
  const child = spawn('redis-server', args, { cwd: directory, stdio: 'ignore' })
  const connect = () => connectRedis(`redis://127.0.0.1:${port}`).catch(() => null)
  const connection = await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`redis-server ${args.join(' ')} ended.`)
    return connect()
  })
  return {
    port,
    send: (...command) => connection.send(command),
    kill: () => end(child, 'SIGKILL'),
    close: async () => {
      connection.close()
      await end(child, 'SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}
