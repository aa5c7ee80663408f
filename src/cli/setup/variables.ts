import { randomBytes } from 'node:crypto'
import { importKeyRing, randomText } from '../../domain/secrets.ts'
import { requiredByClouds } from '../../platform/deployment-faults.ts'
import { type Env, EnvironmentError, readEnv } from '../../platform/env.ts'
import { variableNotes } from '../../platform/env-notes.ts'
import type { Values } from './env-file.ts'
import type { Target } from './next-steps.ts'

/** The variables of a panel: `added` are new, with their source; `kept` were given with another value. */
export type GatheredVariables = {
  values: Values
  added: { name: string; from: string }[]
  kept: string[]
  missing: string[]
}

type Sources = {
  /** Values in the file that is written, which take precedence. */
  existing: Values
  /** Values in the file of `--from`. */
  given: Values
  environment: Record<string, unknown>
}

/** Collects the values for the file: existing and given ones, generated secrets, and empty ones for missing variables. */
export function gatherVariables(
  target: Target,
  { existing, given, environment }: Sources,
): GatheredVariables {
  const values: Values = { ...existing }
  const added: GatheredVariables['added'] = []
  const kept: string[] = []
  const takeFrom = (from: string, source: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(source)) {
      if (typeof value !== 'string' || value === '') continue
      if (values[name]) {
        if (values[name] !== value && existing[name]) kept.push(name)
        continue
      }
      values[name] = value
      added.push({ name, from })
    }
  }
  takeFrom('--from', given)
  takeFrom('the environment', readableVariables(target, environment))
  takeFrom('made', {
    APP_KEYS: values.APP_KEYS || `k1:${randomBytes(32).toString('base64')}`,
    METRICS_TOKEN: values.METRICS_TOKEN || randomText(40),
    ...(target === 'node' ? {} : { SETUP_CODE: values.SETUP_CODE || randomText(20) }),
  })
  const missing = target === 'node' ? [] : requiredByClouds.filter((name) => !values[name])
  for (const name of missing) values[name] = ''
  return { values, added, kept: [...new Set(kept)], missing }
}

/** Returns the variables that a panel on this platform reads. For functions this excludes HOST, which shells may set. */
function readableVariables(target: Target, environment: Record<string, unknown>): Record<string, unknown> {
  const reader = { workers: 'Workers', lambda: 'Lambda', node: 'Node' }[target]
  const names = Object.entries(variableNotes).flatMap(([name, { readBy }]) => {
    const isRead =
      target === 'node' || readBy.some((each) => !['Lambda', 'Node'].includes(each) || each === reader)
    return isRead ? [name] : []
  })
  if (target === 'lambda') names.push('AWS_REGION')
  return Object.fromEntries(names.map((name) => [name, environment[name]]))
}

/** Validates the variables. Throws one `EnvironmentError` that names every invalid variable. */
export async function readVariables(values: Values): Promise<Env> {
  const env = readEnv(values)
  if (env.APP_KEYS) {
    await importKeyRing(env.APP_KEYS).catch(() => {
      throw new EnvironmentError(['APP_KEYS: must be <id>:<32 bytes in base64>, several separated by commas'])
    })
  }
  return env
}

/** Removes the secrets of these values from a text: errors of services may quote them. */
export function redactSecrets(text: string, values: Values): string {
  const secrets = Object.entries(values).flatMap(([name, value]) => {
    // As it is written in URLs, of one host or of several, and as drivers decode it.
    const password = URL.canParse(value)
      ? new URL(value).password
      : (/^[\w+.-]+:\/\/[^@/?#:]*:([^@/?#]+)@/.exec(value)?.[1] ?? '')
    const decoded = new URLSearchParams(`p=${password.replaceAll('+', '%2B')}`).get('p') ?? ''
    const isSecret = /KEY|TOKEN|SECRET|REDIS_URL/.test(name) || password !== ''
    return isSecret ? [value, password, decoded] : []
  })
  // Shorter secrets would match within words.
  return secrets
    .filter((secret) => secret.length > 5)
    .toSorted((one, other) => other.length - one.length)
    .reduce((cleaned, secret) => cleaned.replaceAll(secret, '…'), text)
}
