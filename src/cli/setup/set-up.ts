import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Env } from '../../platform/env.ts'
import { reasonOf, VerbError } from '../faults.ts'
import type { Check } from '../verbs/checks.ts'
import { readEnvFile, replaceFile, type Values, withValues } from './env-file.ts'
import type { Target } from './next-steps.ts'
import { serviceChecks } from './service-checks.ts'
import { gather, type Gathered, readVariables, withoutSecrets } from './variables.ts'
import { routedHost, withRoutes } from './worker-routes.ts'

export type Wishes = {
  target: Target
  /** Where the variables go. */
  out: string
  /** Another file to take them from. */
  from: string | undefined
  /** The `wrangler.toml` whose routes are written, and the zone for them; null leaves them alone. */
  routes: { file: string; zone: string } | null
}

export type Outcome = Omit<Gathered, 'values'> & { isWritten: boolean; hasDemo: boolean; checks: Check[] }

const wranglerToml = fileURLToPath(new URL('../../../wrangler.toml', import.meta.url))

/**
 * The file holds the variables of a panel, with secrets of its own, and the routes lead from its host. Each outside
 * service was tried. Variables with faults change nothing.
 */
export async function setUp(environment: Record<string, unknown>, wishes: Wishes): Promise<Outcome> {
  const { target, out, from, routes } = wishes
  const file = (await readEnvFile(out)) ?? { lines: [], values: {} }
  const given = from === undefined ? {} : await valuesOf(from)
  const { values, ...gathered } = gather(target, { existing: file.values, given, environment })
  const env = await readVariables(values)
  const text = withValues(file, values)
  if (routes) await writeRoutes(env, routes)
  const isWritten = await replaceFile(out, text, 0o600)
  const checks = [
    ...environmentChecks(env, gathered.missing),
    ...(await serviceChecks(env, target)),
    ...(target === 'workers' && env.APP_URL
      ? [await routesCheck(env.APP_URL, routes?.file ?? wranglerToml)]
      : []),
  ]
  return {
    ...gathered,
    isWritten,
    hasDemo: env.DEMO !== false,
    checks: checks.map((each) => ({ ...each, detail: withoutSecrets(each.detail, values) })),
  }
}

async function valuesOf(path: string): Promise<Values> {
  const file = await readEnvFile(path)
  if (!file) throw new VerbError(`There is no file ${path}.`)
  return file.values
}

async function writeRoutes(env: Env, { file, zone }: { file: string; zone: string }): Promise<void> {
  if (!env.APP_URL) throw new VerbError('APP_URL is missing: routes need its host.')
  await replaceFile(file, withRoutes(await readToml(file), new URL(env.APP_URL).hostname, zone), null)
}

async function readToml(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new VerbError(`${path} cannot be read: ${reasonOf(error)}`)
  })
}

function environmentChecks(env: Env, missing: string[]): Check[] {
  const name = 'environment'
  if (missing.length > 0) {
    return missing.map((each) => ({
      name,
      state: 'fail',
      detail: `${each}: is required here; write it into the file`,
    }))
  }
  return [
    { name, state: 'ok', detail: env.DATABASE_URL ? 'complete' : 'complete, with the embedded database' },
  ]
}

async function routesCheck(url: string, toml: string): Promise<Check> {
  const [host, routed] = [new URL(url).hostname, routedHost(await readToml(toml))]
  if (host === routed) return { name: 'routes', state: 'ok', detail: `lead from ${host}` }
  const detail = `lead from ${routed}, not ${host}: run this again with --write-routes wrangler.toml --zone ZONE`
  return { name: 'routes', state: 'warn', detail }
}
