import { type Env, EnvironmentError, readEnv } from '../../platform/env.ts'
import { callOperation, type Command, type CommandArguments } from '../command.ts'
import { faultOf } from '../faults.ts'
import type { Check } from '../operations/checks.ts'

/** `doctor` */
export const doctor: Command = {
  synopsis: 'doctor',
  summary: 'Checks everything that the panel needs. Exit code 1 when a check fails.',
  help: `Checks the environment, the database and its migrations, the clock, cache, queue and object store, and
the daemon of every node (5 seconds each). Stops after an invalid environment, and checks no nodes without
a database that is up to date. Changes nothing.`,
  options: {},
  positionals: [0, 0],
  run: async (raw, args) => {
    const checks = await runChecks(raw, args)
    const isHealthy = checks.every(({ state }) => state !== 'fail')
    return { text: formatChecks(checks), json: { checks }, exitCode: isHealthy ? 0 : 1 }
  },
}

async function runChecks(raw: Record<string, unknown>, args: CommandArguments): Promise<Check[]> {
  try {
    const env = readEnv(raw)
    return [describeEnvironment(env), ...(await checkServices(env, args))]
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    return (faultOf(error).issues ?? []).map(({ field, problem }) => ({
      name: 'environment',
      state: 'fail',
      detail: `${field}: ${problem}`,
    }))
  }
}

function describeEnvironment(env: Env): Check {
  if (!env.DATABASE_URL) return { name: 'environment', state: 'ok', detail: 'embedded database' }
  const services = {
    cache: env.UPSTASH_REDIS_REST_URL ?? env.REDIS_URL ?? env.CACHE_DRIVER,
    queue: env.QSTASH_TOKEN,
    objects: env.S3_BUCKET,
  }
  const embedded = Object.entries(services).flatMap(([name, value]) => (value ? [] : [name]))
  const others = embedded.length > 0 ? `; embedded: ${embedded.join(', ')}` : ''
  if (env.APP_KEYS)
    return {
      name: 'environment',
      state: 'ok',
      detail: `database by ${env.DATABASE_DRIVER ?? 'postgres'}${others}`,
    }
  const detail = `APP_KEYS is not set: only ${env.DATA_DIR}/secrets.json can decrypt the secrets in the database`
  return { name: 'environment', state: 'warn', detail }
}

async function checkServices(env: Env, args: CommandArguments): Promise<Check[]> {
  try {
    return (await callOperation<{ checks: Check[] }>(env, args, 'doctor', {})).checks
  } catch (error) {
    return [{ name: 'services', state: 'fail', detail: faultOf(error).error }]
  }
}

/** Formats checks, one per line. */
export function formatChecks(checks: Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks
    .map(({ name, state, detail }) => `${state.padEnd(4)}  ${name.padEnd(width)}  ${detail}`)
    .join('\n')
}
