import { join, resolve } from 'node:path'
import * as z from 'zod'
import { migrationsAfter, newestMigration, newestMigrationOfCode } from '../db/migration-state.ts'
import { commandOf } from '../platform/command-names.ts'
import { type Env, readEnv } from '../platform/env.ts'
import { sendToControlSocket } from '../platform/local/control-socket.ts'
import { openDataDirectory } from '../platform/local/data-directory.ts'
import { openPglite } from '../platform/local/pglite.ts'
import { openPostgres } from '../platform/postgres.ts'
import { version } from '../version.ts'
import { columns, type CommandArguments, isSet, type Report, textOption } from './command.ts'
import { announceDatabase } from './database.ts'
import { OperationError, reasonOf } from './faults.ts'
import type { RpcResponse } from './operations.ts'
import type { UpgradeState } from './operations/upgrade-state.ts'
import { upgradeNotes } from './upgrade-notes.ts'

/** Compares the database with this version as `upgrade:check` is asked to. Refuses where the list of migrations or a release cannot be read. */
export async function checkUpgrade(raw: Record<string, unknown>, args: CommandArguments): Promise<Report> {
  const env = readEnv(raw)
  await announceDatabase(env, isSet(args, 'create'))
  const { running, newest } = await stateOf(env)
  if (newest === null)
    throw new OperationError('The table migrations cannot be read: it is unknown what is pending.')
  const pending = migrationsAfter(newest)
  const isNewer = newest > newestMigrationOfCode
  const notes = upgradeNotes.filter(({ migration }) => newest > 0 && pending.includes(migration))
  const releases = textOption(args, 'releases')
  const latest = releases === undefined ? null : await latestVersion(releases)
  const json = { version, running, pending, database_is_newer: isNewer, notes, latest }
  return { text: describe(json), json, exitCode: pending.length > 0 ? 1 : 0 }
}

type Found = {
  running: string | null
  pending: string[]
  database_is_newer: boolean
  notes: typeof upgradeNotes
  latest: string | null
}

function describe({ running, pending, database_is_newer: isNewer, notes, latest }: Found): string {
  const lines = columns([
    ['this version', version],
    ['running', running ?? 'unknown: no panel answers'],
    ['newest release', latest ?? 'not looked for: give --releases'],
    ['database', databaseText(pending, isNewer)],
  ])
  const texts = notes.map(({ heading, text }) => `${heading} (docs/upgrading.md): ${text}`)
  return [lines, ...pending.map((name) => `pending: ${name}`), ...texts].join('\n')
}

function databaseText(pending: string[], isNewer: boolean): string {
  if (isNewer) return 'newer than this version, which runs on it'
  if (pending.length === 0) return 'has every migration of this version'
  return `lacks ${pending.length} of its migrations: back it up, then ${commandOf('migrate')}`
}

/** Reads the state of the database without opening what would migrate it. */
async function stateOf(env: Env): Promise<UpgradeState> {
  if (env.DATABASE_URL) {
    const { db, close } = openPostgres(env.DATABASE_URL, 1)
    try {
      return { running: await runningVersion(env.APP_URL), newest: await newestMigration(db) }
    } finally {
      await close()
    }
  }
  const request = { verb: 'upgrade:state', input: {} }
  const response = await sendToControlSocket(resolve(env.DATA_DIR), request)
  if (!response) return embeddedState(env)
  const answer = response.answer as RpcResponse
  if ('output' in answer) return answer.output as UpgradeState
  throw new OperationError(answer.fault.error, answer.fault.issues)
}

async function embeddedState(env: Env): Promise<UpgradeState> {
  const directory = await openDataDirectory(env.DATA_DIR)
  try {
    const path = join(directory.path, 'database')
    const { db, close } = await openPglite(path, undefined, { migrates: false })
    try {
      return { running: null, newest: await newestMigration(db) }
    } finally {
      await close()
    }
  } finally {
    await directory.release()
  }
}

const timeoutMs = 5000

/** Asks the panel at an address for its version; null when none answers. */
async function runningVersion(url: string | undefined): Promise<string | null> {
  if (url === undefined) return null
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(timeoutMs) })
    return z.object({ version: z.string() }).parse(await answer.json()).version
  } catch {
    return null
  }
}

const Release = () =>
  z
    .union([z.object({ version: z.string() }), z.object({ tag_name: z.string() })])
    .transform((release) => ('version' in release ? release.version : release.tag_name).replace(/^v/, ''))

async function latestVersion(url: string): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
    if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    return Release().parse(await answer.json())
  } catch (error) {
    throw new OperationError(`No release can be read from ${url}: ${reasonOf(error)}`)
  }
}
