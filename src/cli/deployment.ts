import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Cloud } from '../platform/deployment-faults.ts'
import { readEnv } from '../platform/env.ts'
import { migratePostgres } from '../platform/postgres.ts'
import { repositoryRoot as root } from '../platform/repository.ts'
import { type BundleSize, overBudget, sizeTable } from './bundles.ts'
import { faultOf, OperationError, reasonOf } from './faults.ts'
import { printFault } from './output.ts'

/** Milliseconds for bundling: `serverless` does not always exit when it fails. */
const bundleTimeoutMs = 180_000
/** Turns the telemetry of both tools off. */
const telemetryOff = { WRANGLER_SEND_METRICS: 'false', SLS_TELEMETRY_DISABLED: '1' }

type Tool = 'wrangler' | 'serverless'

/** One step of a deployment, with its name for messages. */
export type Deployment = { name: string; run: () => Promise<void> }

/** Runs a tool in the repository, with its output and prompts on the terminal. Throws when it fails. */
export async function runTool(tool: Tool, args: string[]): Promise<void> {
  const child = spawn(process.execPath, [binary(tool), ...args], {
    cwd: root,
    env: { ...process.env, ...telemetryOff },
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new OperationError(`${tool} ended with exit code ${code}.`)
}

/** Runs a tool without output and prompts. Throws its output when it fails. */
export const runToolQuietly = (tool: Tool, args: string[]): Promise<void> => runQuietly(binary(tool), args)

/** Runs a program of the repository, by its path there. Throws its output when it fails. */
export async function runQuietly(program: string, args: string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: root,
    env: { ...process.env, ...telemetryOff, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: bundleTimeoutMs,
  })
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ])
  if (code !== 0)
    throw new OperationError(
      `${basename(program)} ${args.join(' ')} ${code === null ? 'did not end' : `ended with exit code ${code}`}:\n${stdout}${stderr}`,
    )
}

const binary = (tool: Tool) => join(root, 'node_modules', '.bin', tool)

/**
 * Migrates the database of DATABASE_URL to the newest schema, then runs the deployments in sequence. Stops at the first
 * failure and reports what was deployed. Does nothing without DATABASE_URL, or when the variables are invalid for
 * `cloud`, to which they are deployed.
 */
export async function deployAll(
  raw: Record<string, unknown>,
  deployments: Deployment[],
  cloud: Cloud | null = null,
): Promise<void> {
  const { DATABASE_URL: url } = readEnv(raw, cloud)
  if (!url) throw new OperationError('DATABASE_URL is missing: migrations run first. Nothing was deployed.')
  await migratePostgres(url).catch((error: unknown) => {
    throw new OperationError(`The migrations failed: ${reasonOf(error)}. Nothing was deployed.`)
  })
  console.log('The database has the newest schema.')
  const done: string[] = []
  for (const { name, run } of deployments) {
    console.log(`\nDeploying ${name}`)
    try {
      await run()
    } catch (error) {
      const left = deployments.slice(done.length).map((each) => each.name)
      throw new OperationError(
        `${reasonOf(error)} Deployed: ${formatNames(done)}. Not deployed: ${formatNames(left)}.`,
      )
    }
    done.push(name)
  }
  console.log(`\nDeployed: ${formatNames(done)}.`)
}

const formatNames = (names: string[]) => (names.length > 0 ? names.join(', ') : 'nothing')

/**
 * Prints the sizes of the bundles that `bundle` creates in a folder: `out`, or a temporary one. Throws when one is over
 * its budget.
 */
export async function printBundleSizes(
  out: string | undefined,
  bundle: (folder: string) => Promise<BundleSize[]>,
): Promise<void> {
  const folder = out === undefined ? await mkdtemp(join(tmpdir(), 'roost-bundles-')) : resolve(out)
  try {
    await mkdir(folder, { recursive: true })
    const sizes = await bundle(folder)
    console.log(sizeTable(sizes))
    const oversized = overBudget(sizes).map(({ name }) => name)
    if (oversized.length > 0) throw new OperationError(`Over budget: ${oversized.join(', ')}.`)
  } finally {
    if (out === undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Runs a script. Prints a failure as text and sets exit code 1. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    printFault(faultOf(error), false)
    process.exitCode = 1
  }
}
