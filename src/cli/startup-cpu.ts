import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Milliseconds of processor that loading a function may take: each cold start pays them. */
export const startupBudget = 150

/** Who shares the processor lengthens a try, never shortens it. */
const mostTries = 20

/** Loads a bundle as its cloud would, and says what that cost. What only workerd has, is empty here. */
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

/**
 * Milliseconds of processor that Node takes to load a bundle: the least of some tries, of which there are no more
 * once one is within the budget.
 */
export async function startupCpu(file: string): Promise<number> {
  const tries: number[] = []
  do tries.push(await loadOnce(file))
  while (Math.min(...tries) > startupBudget && tries.length < mostTries)
  return Math.min(...tries)
}

async function loadOnce(file: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', probe], {
    env: { ...process.env, ROOST_BUNDLE: pathToFileURL(file).href },
  })
  return Number(stdout)
}
