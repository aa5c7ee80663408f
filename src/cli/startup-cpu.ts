import { execFile } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/**
 * Maximum CPU time for loading a function, which each cold start takes, as a multiple of that for Hono and zod alone in
 * the same run: milliseconds would depend on the machine.
 */
export const maxStartupRatio = 13

/** Other processes make a measurement longer, never shorter, so the shortest one counts. */
const attempts = { min: 5, max: 20 }

/** What every function consists of at least. */
const referenceCode = `
import { Hono } from 'hono'
import * as z from 'zod'
export const app = new Hono().post('/', (c) => c.json(z.object({ name: z.string() }).parse(c.req.query())))
`

/** Loads a bundle as its cloud does and prints the CPU time. Modules of workerd are empty. */
const probe = `
import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) =>
    name.startsWith('cloudflare:')
      ? { url: 'data:text/javascript,export const env = {}, connect = null', shortCircuit: true }
      : next(name, context),
})
const before = process.cpuUsage()
await import(process.env.ROOST_BUNDLE)
const { user, system } = process.cpuUsage(before)
process.stdout.write(String((user + system) / 1000), () => process.exit())
`

/** The reference's bundle, and the shortest time in milliseconds that loading it took in this run. */
export type Reference = { file: string; milliseconds: number }

/** Bundles Hono and zod alone into a file, with which functions are compared. */
export async function bundleReference(file: string): Promise<Reference> {
  await build({
    stdin: { contents: referenceCode, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    outfile: file,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
  })
  return { file, milliseconds: Infinity }
}

/** The CPU time for loading a function, in milliseconds and as a multiple of that for the reference. */
export type StartupCost = { milliseconds: number; ratio: number }

/**
 * Measures the CPU time that Node takes to load a bundle and the reference, in turns: the minimum of several attempts of
 * each, which end with the first one within the budget.
 */
export async function measureStartup(file: string, reference: Reference): Promise<StartupCost> {
  let milliseconds = Infinity
  for (let attempt = 0; attempt < attempts.max; attempt += 1) {
    if (attempt >= attempts.min && milliseconds <= maxStartupRatio * reference.milliseconds) break
    reference.milliseconds = Math.min(reference.milliseconds, await loadOnce(reference.file))
    milliseconds = Math.min(milliseconds, await loadOnce(file))
  }
  return { milliseconds, ratio: milliseconds / reference.milliseconds }
}

async function loadOnce(file: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', probe], {
    env: { ...process.env, ROOST_BUNDLE: pathToFileURL(file).href },
  })
  return Number(stdout)
}
