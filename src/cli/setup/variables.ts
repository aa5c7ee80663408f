import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { importKeyRing, randomText } from '../../domain/secrets.ts'
import { neededByClouds } from '../../platform/stage.ts'
import { type Env, EnvironmentError, readEnv } from '../../platform/env.ts'
import { EnvSchema, type VariableNote } from '../../platform/env-schema.ts'
import type { Values } from './env-file.ts'
import type { Target } from './next-steps.ts'

/** Variables of a panel there; `added` says where each new one is from, `kept` which the environment would change. */
export type Gathered = {
  values: Values
  added: { name: string; from: string }[]
  kept: string[]
  missing: string[]
}

type Sources = {
  /** What the file that is written holds already. It always wins. */
  existing: Values
  /** What the file of `--from` holds. */
  given: Values
  environment: Record<string, unknown>
}

/**
 * What the file is to hold: what it holds, what is given, secrets of its own where there are none, and an empty value
 * for what is missing.
 */
export function gather(target: Target, { existing, given, environment }: Sources): Gathered {
  const values: Values = { ...existing }
  const added: Gathered['added'] = []
  const kept: string[] = []
  const take = (from: string, source: Record<string, unknown>) => {
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
  take('--from', given)
  take('the environment', readThere(target, environment))
  take('made', {
    APP_KEYS: values.APP_KEYS || `k1:${randomBytes(32).toString('base64')}`,
    METRICS_TOKEN: values.METRICS_TOKEN || randomText(40),
  })
  const missing = target === 'node' ? [] : neededByClouds.filter((name) => !values[name])
  for (const name of missing) values[name] = ''
  return { values, added, kept: [...new Set(kept)], missing }
}

/** What a panel there reads of the environment; the shell's own HOST, say, is no business of functions. */
function readThere(target: Target, environment: Record<string, unknown>): Record<string, unknown> {
  const reader = { workers: 'Workers', lambda: 'Lambda', node: 'Node' }[target]
  const names = Object.entries(EnvSchema().shape).flatMap(([name, schema]) => {
    const { readBy } = z.globalRegistry.get(schema) as VariableNote
    const isRead =
      target === 'node' || readBy.some((each) => !['Lambda', 'Node'].includes(each) || each === reader)
    return isRead ? [name] : []
  })
  if (target === 'lambda') names.push('AWS_REGION')
  return Object.fromEntries(names.map((name) => [name, environment[name]]))
}

/** The variables, checked as a whole. Throws one error that names every variable at fault. */
export async function readVariables(values: Values): Promise<Env> {
  const env = readEnv(values)
  if (env.APP_KEYS) {
    await importKeyRing(env.APP_KEYS).catch(() => {
      throw new EnvironmentError(['  APP_KEYS: must be <id>:<32 bytes in base64>, several joined by commas'])
    })
  }
  return env
}

/** The text without any secret of these values: what others say of a failure may quote them. */
export function withoutSecrets(text: string, values: Values): string {
  const secrets = Object.entries(values).flatMap(([name, value]) => {
    // As it is written in addresses, and as drivers read it.
    const password = URL.canParse(value) ? new URL(value).password : ''
    const decoded = new URLSearchParams(`p=${password.replaceAll('+', '%2B')}`).get('p') ?? ''
    const isSecret = /KEY|TOKEN|SECRET/.test(name) || password !== ''
    return isSecret ? [value, password, decoded] : []
  })
  // What is this short would take words apart.
  return secrets
    .filter((secret) => secret.length > 5)
    .toSorted((one, other) => other.length - one.length)
    .reduce((cleaned, secret) => cleaned.replaceAll(secret, '…'), text)
}
