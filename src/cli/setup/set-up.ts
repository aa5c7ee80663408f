import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasDemo } from '../../platform/demo-places.ts'
import type { Env } from '../../platform/env.ts'
import { repositoryRoot } from '../../platform/repository.ts'
import { OperationError, reasonOf } from '../faults.ts'
import type { Check } from '../operations/checks.ts'
import { mergeValues, readEnvFile, replaceFile, type Values } from './env-file.ts'
import type { Target } from './next-steps.ts'
import { serviceChecks } from './service-checks.ts'
import { gatherVariables, type GatheredVariables, readVariables, redactSecrets } from './variables.ts'
import { replaceRoutes, routedHost } from './worker-routes.ts'

export type SetupOptions = {
  target: Target
  /** The file for the variables. */
  out: string
  /** Another file with variables. */
  from: string | undefined
  /** The `wrangler.toml` whose routes are written, and their zone; null changes no routes. */
  routes: { file: string; zone: string } | null
}

export type SetupResult = Omit<GatheredVariables, 'values'> & {
  isWritten: boolean
  hasDemo: boolean
  checks: Check[]
}

const wranglerToml = join(repositoryRoot, 'wrangler.toml')

/**
 * Writes the variables of a panel to the file, generates its secrets, writes its routes, and checks each external
 * service. Throws without changing anything when a variable is invalid.
 */
export async function setUp(
  environment: Record<string, unknown>,
  options: SetupOptions,
): Promise<SetupResult> {
  const { target, out, from, routes } = options
  const file = (await readEnvFile(out)) ?? { lines: [], values: {} }
  const given = from === undefined ? {} : await valuesOf(from)
  const { values, ...gathered } = gatherVariables(target, { existing: file.values, given, environment })
  const env = await readVariables(values)
  const text = mergeValues(file, values)
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
    hasDemo: hasDemo(env),
    checks: checks.map((each) => ({ ...each, detail: redactSecrets(each.detail, values) })),
  }
}

async function valuesOf(path: string): Promise<Values> {
  const file = await readEnvFile(path)
  if (!file) throw new OperationError(`There is no file ${path}.`)
  return file.values
}

async function writeRoutes(env: Env, { file, zone }: { file: string; zone: string }): Promise<void> {
  if (!env.APP_URL) throw new OperationError('APP_URL is missing: routes need its host.')
  await replaceFile(file, replaceRoutes(await readToml(file), new URL(env.APP_URL).hostname, zone), null)
}

async function readToml(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new OperationError(`${path} cannot be read: ${reasonOf(error)}`)
  })
}

function environmentChecks(env: Env, missing: string[]): Check[] {
  const name = 'environment'
  if (missing.length > 0) {
    return missing.map((each) => ({
      name,
      state: 'fail',
      detail: `${each}: is required here; add it to the file`,
    }))
  }
  return [
    { name, state: 'ok', detail: env.DATABASE_URL ? 'complete' : 'complete, with the embedded database' },
  ]
}

async function routesCheck(url: string, toml: string): Promise<Check> {
  const [host, routed] = [new URL(url).hostname, routedHost(await readToml(toml))]
  if (host === routed) return { name: 'routes', state: 'ok', detail: `are for ${host}` }
  const detail = `are for ${routed}, not ${host}: run this again with --write-routes wrangler.toml --zone ZONE`
  return { name: 'routes', state: 'warn', detail }
}
