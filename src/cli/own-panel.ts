import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Database } from '../db/database.ts'
import { countPendingMigrations } from '../db/migration-state.ts'
import type { Panel } from '../panel.ts'
import { finish } from '../platform/background.ts'
import type { Env } from '../platform/env.ts'
import { type DataDirectory, type LocalSecrets, openDataDirectory } from '../platform/local/data-directory.ts'
import { openLocalParts } from '../platform/local/parts.ts'
import { openPanel } from '../platform/parts.ts'
import { VerbError } from './faults.ts'
import { type Asked, runVerb } from './verbs.ts'
import { patience } from './verbs/checks.ts'

/** Does what is asked with parts that are opened for it and closed afterwards. */
export async function performHere(env: Env, asked: Asked): Promise<unknown> {
  const directory = env.DATABASE_URL
    ? await shareDataDirectory(env.DATA_DIR)
    : await openDataDirectory(env.DATA_DIR)
  try {
    const url = env.APP_URL ?? `http://${env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST}:${env.PORT}`
    const { parts } = await openLocalParts(env, { directory, url, deliver: leaveToSweep })
    const deferred: Promise<unknown>[] = []
    const config = { ...parts.config, daemonTimeout: patience }
    const facts = { ip: '127.0.0.1', requestId: randomUUID() }
    const panel: Panel = {
      ...openPanel({ ...parts, config }, { ...facts, defer: (work) => void deferred.push(work) }),
      actor: { kind: 'system' },
    }
    try {
      // The doctor looks at the schema itself.
      if (env.DATABASE_URL && asked.verb !== 'doctor') await requireMigrated(panel.db)
      return await runVerb(panel, asked)
    } finally {
      await finish(deferred)
      await parts.close()
    }
  } finally {
    await directory.release()
  }
}

/** The database has the schema of this code: nothing but `npm run migrate` and a starting panel changes it. */
async function requireMigrated(db: Database): Promise<void> {
  const pending = await countPendingMigrations(db)
  if (pending === 0) return
  const many = pending === 1 ? '1 migration is' : `${pending} migrations are`
  throw new VerbError(
    pending === null
      ? 'The table migrations cannot be read: nobody can tell whether the schema is the newest.'
      : `${many} pending: run npm run migrate first.`,
  )
}

/** A database of its own takes several processes, and so do the secrets beside it: nothing is locked. */
async function shareDataDirectory(configured: string): Promise<DataDirectory> {
  const path = resolve(configured)
  const release = async () => undefined
  const text = await readFile(join(path, 'secrets.json'), 'utf8').catch(() => null)
  if (text !== null) return { path, secrets: JSON.parse(text) as LocalSecrets, release }
  const directory = await openDataDirectory(configured)
  await directory.release()
  return { ...directory, release }
}

/** No app is here to take messages: the panel's minute tick finds the job. */
const leaveToSweep = async () => new Response(null, { status: 503 })
