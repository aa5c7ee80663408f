import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import journal from '../../../drizzle/meta/_journal.json' with { type: 'json' }
import { importKeyRing } from '../../domain/secrets.ts'
import type { Env } from '../../platform/env.ts'
import type { LocalSecrets } from '../../platform/local/data-directory.ts'
import { OperationError } from '../faults.ts'
import { fingerprintOf } from './describe.ts'
import type { Manifest } from './manifest.ts'

/** Throws when an archive has a newer schema than this code, or another kind of database than the environment. */
export function requireFitting(env: Env, { database, schema, version }: Manifest): void {
  if (schema.newest > Math.max(...journal.entries.map(({ when }) => when)))
    throw new OperationError(
      `The archive has a newer schema than this version: restore it with version ${version} or a later one.`,
    )
  if (database === 'postgres' && !env.DATABASE_URL)
    throw new OperationError('The archive is of PostgreSQL: set DATABASE_URL to that of an empty database.')
  if (database === 'embedded' && env.DATABASE_URL)
    throw new OperationError(
      'The archive is of an embedded database: restore it without DATABASE_URL, then use database:move.',
    )
}

/**
 * Decides which keys the restored panel has. Returns whether `secrets.json` of the archive is used; throws where none of
 * them can read the secrets of the archive.
 */
export async function chooseKeys(
  env: Env,
  directory: string,
  staged: string,
  manifest: Manifest,
  replaces: boolean,
): Promise<boolean> {
  const [own, archived] = await Promise.all([readAppKeys(directory), readAppKeys(staged)])
  const takesArchived = archived !== null && (own === null || (replaces && own !== archived))
  const present = env.APP_KEYS ?? (takesArchived ? archived : own)
  const missing = await missingKeys(present, manifest)
  if (missing.length === 0) return takesArchived
  const needs = `The secrets in the archive need the ${missing.length === 1 ? 'key' : 'keys'} ${missing.join(', ')}`
  if (env.APP_KEYS !== undefined) throw new OperationError(`${needs}, which APP_KEYS lacks. Add it there.`)
  if (archived !== null && own !== null)
    throw new OperationError(
      `${needs}, and ${directory}/secrets.json has others. Repeat with --replace, to take those of the archive.`,
    )
  throw new OperationError(
    `${needs}, which ${own === null ? 'the archive does not have' : `${directory}/secrets.json is not`}. Bring back secrets.json of the panel that was backed up into ${directory}, or set APP_KEYS to its keys.`,
  )
}

async function missingKeys(present: string | null, { keys }: Manifest): Promise<string[]> {
  const ring = present === null ? [] : await importKeyRing(present)
  const known = new Set(await Promise.all(ring.map(fingerprintOf)))
  return keys
    .filter(({ fingerprint, secrets }) => secrets !== 0 && !known.has(fingerprint))
    .map(({ id }) => id)
}

async function readAppKeys(folder: string): Promise<string | null> {
  const path = join(folder, 'secrets.json')
  if (!existsSync(path)) return null
  return (JSON.parse(await readFile(path, 'utf8')) as LocalSecrets).appKeys
}
