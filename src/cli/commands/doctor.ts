import { type Env, EnvironmentError, readEnv } from '../../platform/env.ts'
import { ask, type Command } from '../command.ts'
import { faultOf } from '../faults.ts'
import type { Check } from '../verbs/checks.ts'

/** `doctor` */
export const doctor: Command = {
  synopsis: 'doctor',
  summary:
    'Looks whether everything the panel needs is there and answers. Exit code 1 when something is not.',
  help: `Checks the environment, the database and its migrations, the clock, cache, queue and object store, and
the daemon of every node (5 seconds each). Of an environment with faults nothing else can be checked;
without a database that is up to date, no node. Changes nothing.`,
  options: {},
  words: [0, 0],
  run: async (raw) => {
    const checks = await examineAll(raw)
    const isFit = checks.every(({ state }) => state !== 'fail')
    return { text: table(checks), json: { checks }, exitCode: isFit ? 0 : 1 }
  },
}

async function examineAll(raw: Record<string, unknown>): Promise<Check[]> {
  try {
    const env = readEnv(raw)
    return [describeEnvironment(env), ...(await examineParts(env))]
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
  const parts = { cache: env.UPSTASH_REDIS_REST_URL, queue: env.QSTASH_TOKEN, objects: env.S3_BUCKET }
  const embedded = Object.entries(parts).flatMap(([name, value]) => (value ? [] : [name]))
  const others = embedded.length > 0 ? `; embedded: ${embedded.join(', ')}` : ''
  if (env.APP_KEYS)
    return { name: 'environment', state: 'ok', detail: `database by ${env.DATABASE_DRIVER}${others}` }
  const detail = `APP_KEYS is not set: the secrets in the database open only with ${env.DATA_DIR}/secrets.json`
  return { name: 'environment', state: 'warn', detail }
}

async function examineParts(env: Env): Promise<Check[]> {
  try {
    return (await ask<{ checks: Check[] }>(env, 'doctor', {})).checks
  } catch (error) {
    return [{ name: 'parts', state: 'fail', detail: faultOf(error).error }]
  }
}

/** One check a line. */
export function table(checks: Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks
    .map(({ name, state, detail }) => `${state.padEnd(4)}  ${name.padEnd(width)}  ${detail}`)
    .join('\n')
}
