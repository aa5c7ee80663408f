import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { readEnv } from '../platform/env.ts'
import { migratePostgres } from '../platform/postgres.ts'
import type { Cloud } from '../platform/stage.ts'
import { type BundleSize, overBudget, sizeTable } from './bundles.ts'
import { faultOf, reasonOf, VerbError } from './faults.ts'
import { printFault } from './output.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Milliseconds for bundling: `serverless` does not always end when a bundle cannot be made. */
const patience = 180_000
/** Neither program is to count its users. */
const unobserved = { WRANGLER_SEND_METRICS: 'false', SLS_TELEMETRY_DISABLED: '1' }

type Tool = 'wrangler' | 'serverless'

/** Something to deploy, by the name under which people know it. */
export type Deployment = { name: string; run: () => Promise<void> }

/** Runs a tool of the cloud in the repository for people to watch, who may be asked things. Throws when it fails. */
export async function runTool(tool: Tool, words: string[]): Promise<void> {
  const child = spawn(process.execPath, [binary(tool), ...words], {
    cwd: root,
    env: { ...process.env, ...unobserved },
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new VerbError(`${tool} ended with exit code ${code}.`)
}

/** The same without a word and without questions; what the tool says is in the error when it fails. */
export const runToolQuietly = (tool: Tool, words: string[]): Promise<void> => runQuietly(binary(tool), words)

/** Runs a program of the repository, by its path there; what it says is in the error when it fails. */
export async function runQuietly(program: string, words: string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: root,
    env: { ...process.env, ...unobserved, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patience,
  })
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ])
  if (code !== 0)
    throw new VerbError(
      `${basename(program)} ${words.join(' ')} ${code === null ? 'did not end' : `ended with exit code ${code}`}:\n${stdout}${stderr}`,
    )
}

const binary = (tool: Tool) => join(root, 'node_modules', '.bin', tool)

/**
 * Brings the database of DATABASE_URL to the newest schema, then deploys one after the other. At the first failure
 * it stops and says what was deployed. Without DATABASE_URL nothing is done, nor where the variables go along to a
 * `cloud` and are not fit for it.
 */
export async function deployAll(
  raw: Record<string, unknown>,
  deployments: Deployment[],
  cloud: Cloud | null = null,
): Promise<void> {
  const { DATABASE_URL: url } = readEnv(raw, cloud)
  if (!url) throw new VerbError('DATABASE_URL is missing: the migrations come first. Nothing was deployed.')
  await migratePostgres(url).catch((error: unknown) => {
    throw new VerbError(`The migrations failed: ${reasonOf(error)}. Nothing was deployed.`)
  })
  console.log('The database has the newest schema.')
  const done: string[] = []
  for (const { name, run } of deployments) {
    console.log(`\nDeploying ${name}`)
    try {
      await run()
    } catch (error) {
      const left = deployments.slice(done.length).map((each) => each.name)
      throw new VerbError(`${reasonOf(error)} Deployed: ${listed(done)}. Not deployed: ${listed(left)}.`)
    }
    done.push(name)
  }
  console.log(`\nDeployed: ${listed(done)}.`)
}

const listed = (names: string[]) => (names.length > 0 ? names.join(', ') : 'nothing')

/**
 * Prints the sizes of the bundles that `bundle` makes in a folder: `out`, or one that is gone afterwards. Throws when
 * one is over its budget.
 */
export async function measure(
  out: string | undefined,
  bundle: (folder: string) => Promise<BundleSize[]>,
): Promise<void> {
  const folder = out === undefined ? await mkdtemp(join(tmpdir(), 'roost-bundles-')) : resolve(out)
  try {
    await mkdir(folder, { recursive: true })
    const sizes = await bundle(folder)
    console.log(sizeTable(sizes))
    const heavy = overBudget(sizes).map(({ name }) => name)
    if (heavy.length > 0) throw new VerbError(`Over budget: ${heavy.join(', ')}.`)
  } finally {
    if (out === undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Does the work of a script; a failure is told in words and exit code 1. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    printFault(faultOf(error), false)
    process.exitCode = 1
  }
}
