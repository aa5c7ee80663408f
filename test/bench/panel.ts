import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { sendOnce } from './http-client.ts'
import { origin } from './rows.ts'
import { benchKeys } from './seed.ts'
import type { Statement } from './statement-proxy.ts'

/** Connections of the panel and of the baselines, each. */
export const poolSize = 10

/** What `npm start` runs: variables, then options of Node and a file. */
const [startVariables = '', startCommand = ''] = manifest.scripts.start.split('exec node ')
const startArguments = startCommand.split(' ')
const startEnvironment = new URLSearchParams(startVariables.trim().replaceAll(' ', '&'))
const startTimeoutMs = 60_000
/** Characters of its errors that are kept. */
const maxErrorLength = 2000

/** A panel in its own process, as operators run it. */
export type RunningPanel = {
  port: number
  /** The port at which the process is measured; 0 without the instrument. */
  instrument: number
  pid: number
  stop: () => Promise<void>
}

/** Processor time in milliseconds, memory in bytes, delays of the event loop in milliseconds. */
export type Usage = {
  processorMs: number
  rssBytes: number
  maxRssBytes: number
  delayP99Ms: number
  delayMaxMs: number
}

/**
 * The address of the database of the panel, null for the embedded one with its demo; whether the instrument
 * is loaded into its process.
 */
export type PanelOptions = {
  url: string | null
  isMeasured: boolean
  /** Whether its address is where it listens, as for browsers and for the demo. */
  isOwnAddress?: boolean
  /** Variables beside those of every measurement. */
  variables?: Record<string, string>
  /** Options of Node and the file, in place of those of `npm start`. */
  entry?: string[]
  /** A path that it answers with 200 once it is ready. */
  readyPath?: string
}

/** Starts the panel over a migrated database, and resolves with its first answer. Its log goes nowhere. */
export async function startPanel({
  url,
  isMeasured,
  isOwnAddress = url === null,
  entry = startArguments,
  variables = {},
  readyPath = '/auth/methods',
}: PanelOptions): Promise<RunningPanel> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bench-'))
  const [port = 0, instrument = 0] = await freePorts(2)
  const child = spawn(
    process.execPath,
    [...(isMeasured ? ['--expose-gc', '--import=./test/bench/instrument.ts'] : []), ...entry],
    {
      env: {
        PATH: process.env.PATH,
        ...Object.fromEntries(startEnvironment),
        ...panelEnvironment(url, port, folder),
        ...(isOwnAddress ? { APP_URL: `http://127.0.0.1:${port}` } : {}),
        ...variables,
        BENCH_INSTRUMENT_PORT: String(instrument),
        BENCH_POOL_SIZE: String(poolSize),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-maxErrorLength)))
  try {
    await untilAnswer(child, port, readyPath).catch((error: unknown) => {
      throw new Error(`The panel did not start: ${errors}`, { cause: error })
    })
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return {
    port,
    instrument: isMeasured ? instrument : 0,
    pid: child.pid ?? 0,
    stop: async () => {
      const ended = once(child, 'exit')
      // The demo has a daemon, which ends with a panel that shuts down.
      child.kill(url === null ? 'SIGTERM' : 'SIGKILL')
      await ended
      for (const each of [folder, `${folder}-daemon`]) await rm(each, { recursive: true, force: true })
    },
  }
}

/** Starts the process that answers the baselines, with the options of Node that the panel has. */
export const startBaselines = (url: string): Promise<RunningPanel> =>
  startPanel({
    url,
    isMeasured: true,
    entry: [...startArguments.slice(0, -1), 'test/bench/baselines.ts'],
    readyPath: '/bare',
  })

const panelEnvironment = (url: string | null, port: number, folder: string) => ({
  APP_KEYS: benchKeys,
  APP_URL: origin,
  ...(url === null ? {} : { DATABASE_URL: url }),
  DATABASE_POOL_SIZE: String(poolSize),
  DATA_DIR: folder,
  HOST: '127.0.0.1',
  PORT: String(port),
  TRUSTED_PROXIES: '1',
  CLIENT_RATE_LIMIT: '1000000000',
  APPLICATION_RATE_LIMIT: '1000000000',
})

async function untilAnswer(child: ChildProcess, port: number, path: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error('The panel ended before its first answer, or gave none.')
    const answer = await sendOnce(port, { method: 'GET', path, headers: {} }).catch(() => null)
    if (answer?.status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

const at = (panel: RunningPanel, path: string) => `http://127.0.0.1:${panel.instrument}${path}`

/** Reads what the process has used; with `reset`, maxima are counted anew. */
export const readUsage = async (panel: RunningPanel, reset = false): Promise<Usage> =>
  (await (await fetch(at(panel, `/usage${reset ? '?reset' : ''}`))).json()) as Usage

/** Sends a command to the instrument. */
export async function command(panel: RunningPanel, path: string): Promise<void> {
  const answer = await fetch(at(panel, path), { method: 'POST' })
  if (!answer.ok) throw new Error(`The instrument answered ${answer.status} to ${path}.`)
}

/** The statements of one request, in their order, and the size of its answer. */
export type Baseline = { name: string; requests: Statement[][]; bytes: number; changing: boolean }

/** Registers the baseline of a route in the process that answers them. */
export async function registerBaseline({ port }: RunningPanel, baseline: Baseline): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/baselines`, {
    method: 'POST',
    body: JSON.stringify(baseline),
    headers: { 'content-type': 'application/json' },
  })
  if (!answer.ok) throw new Error(`The baseline ${baseline.name} was refused with ${answer.status}.`)
}

/** Returns the bytes that were allocated since the command `/allocations`. */
export const readAllocations = async (panel: RunningPanel): Promise<number> =>
  ((await (await fetch(at(panel, '/allocations'))).json()) as { bytes: number }).bytes
