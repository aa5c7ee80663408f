import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../processes.ts'
import { command } from './commands.ts'

/** A Docker of the tests: its own daemon. */
export type Engine = {
  /** Where everything of it is, also for the files of a test. */
  folder: string
  docker: (...args: string[]) => Promise<string>
  compose: (project: string, env: Record<string, string>, ...args: string[]) => Promise<string>
}
/** An engine of this process; `stop` ends the daemon, and its data go with it. */
export type OwnEngine = Engine & { stop: () => Promise<void> }

const packages = ['docker.io', 'docker-compose']
// Another client may stand before Debian's on the path, and not build for its daemon.
const client = '/usr/bin/docker'
const composer = '/usr/bin/docker-compose'
const daemon = '/usr/sbin/dockerd'

/**
 * Installs Docker where it is missing, and starts a daemon in a folder of its own. Returns why that cannot be here where
 * it cannot.
 */
export async function openEngine(): Promise<OwnEngine | string> {
  const obstacle = await findObstacle()
  if (obstacle !== null) return obstacle
  return startEngine().catch((error: unknown) => `Docker did not start: ${String(error)}`)
}

async function findObstacle(): Promise<string | null> {
  if (process.platform !== 'linux') return 'only Linux runs containers'
  if (process.getuid?.() !== 0) return 'only root starts a Docker daemon'
  if (!existsSync('/usr/bin/apt-get')) return 'the images are made of packages of Debian'
  const mayMount = await command('unshare', ['--mount', 'true']).then(
    () => true,
    () => false,
  )
  if (!mayMount) return 'nothing can be mounted here'
  if (existsSync(daemon) && existsSync(composer)) return null
  const known = await command('apt-cache', ['show', ...packages]).catch(() => '')
  return known === '' ? `there are no packages ${packages.join(' and ')}` : null
}

/** Returns the engine that another process has started in this folder. */
export function engineIn(folder: string): Engine {
  const env = {
    DOCKER_HOST: hostIn(folder),
    DOCKER_BUILDKIT: '1',
    BUILDKIT_PROGRESS: 'plain',
    DOCKER_CONFIG: folder,
  }
  return {
    folder,
    docker: (...args) => command(client, args, { env, all: args[0] === 'logs' }),
    compose: (project, more, ...args) =>
      command(composer, ['-p', project, ...args], { env: { ...env, ...more } }),
  }
}

const hostIn = (folder: string) => `unix://${join(folder, 'socket')}`

/** Throws with the log of the daemon. */
async function startEngine(): Promise<OwnEngine> {
  await install()
  const folder = await mkdtemp(join(tmpdir(), 'roost-docker-'))
  const engine = engineIn(folder)
  const child = startDaemon(folder, hostIn(folder))
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error('It ended.')
      return engine.docker('info').then(
        () => true,
        () => false,
      )
    }, 60)
  } catch (error) {
    await stopDaemon(child)
    const log = await readFile(join(folder, 'log'), 'utf8')
    throw new Error(`The Docker daemon did not start:\n${log.slice(-2000)}`, { cause: error })
  }
  return {
    ...engine,
    stop: async () => {
      await stopDaemon(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function install(): Promise<void> {
  if (existsSync(daemon) && existsSync(composer)) return
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const options = ['-y', '-qq', '--no-install-recommends', '-o', 'APT::Install-Recommends=0']
  await command('apt-get', ['update', '-qq'], { env })
  await command('apt-get', ['install', ...options, ...packages], { env })
}

function startDaemon(folder: string, host: string): ChildProcess {
  const log = openSync(join(folder, 'log'), 'a')
  const paths = [
    '--data-root',
    join(folder, 'data'),
    '--exec-root',
    join(folder, 'exec'),
    '--pidfile',
    join(folder, 'pid'),
  ]
  return spawn(daemon, [...paths, '-H', host], { stdio: ['ignore', log, log], detached: true })
}

/** Ends the daemon, which ends its containers. */
async function stopDaemon(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
