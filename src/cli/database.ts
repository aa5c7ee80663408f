import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Env } from '../platform/env.ts'
import { OperationError } from './faults.ts'

/** The option that allows a new embedded database. */
export const createOption = { create: { type: 'boolean' } } as const

/**
 * Prints on standard error which database the program works on, without its credentials. Throws when it would be a
 * new embedded one, unless `creates`.
 */
export async function announceDatabase(env: Env, creates: boolean): Promise<void> {
  console.error(`Database: ${describeDatabase(env)}`)
  if (env.DATABASE_URL || creates || (await exists(join(resolve(env.DATA_DIR), 'database')))) return
  throw new OperationError(
    'There is no embedded database in this folder. Set DATABASE_URL or DATA_DIR to those of the panel, or repeat with --create to create one.',
  )
}

function describeDatabase(env: Env): string {
  if (!env.DATABASE_URL) return `embedded, in ${resolve(env.DATA_DIR)}`
  const { host, pathname } = new URL(env.DATABASE_URL)
  return `${host || 'localhost'}${pathname}`
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
