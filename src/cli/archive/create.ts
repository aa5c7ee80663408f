import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../../db/database.ts'
import { importKeyRing } from '../../domain/secrets.ts'
import { type Env, readEnv } from '../../platform/env.ts'
import { sendToControlSocket } from '../../platform/local/control-socket.ts'
import { openDataDirectory, shareDataDirectory } from '../../platform/local/data-directory.ts'
import { giveToOwner } from '../../platform/local/file-owner.ts'
import { openPglite } from '../../platform/local/pglite.ts'
import { linkObjects, makeBackupFolder, snapshotOf } from '../../platform/local/snapshot.ts'
import { openPostgres } from '../../platform/postgres.ts'
import { version } from '../../version.ts'
import { describeDatabase } from './describe.ts'
import { requireFreePath, writeArchive } from './write.ts'
import { type CommandArguments, isSet, type Report, textOption } from '../command.ts'
import { announceDatabase } from '../database.ts'
import { OperationError } from '../faults.ts'
import type { RpcResponse } from '../operations.ts'
import type { Snapshot } from '../operations/backup-snapshot.ts'
import { findPostgresTool, runPostgresTool } from '../postgres-tools.ts'

/** Writes the archive that `backup:create` is asked for. Refuses a file that is there, and what cannot be read whole. */
export async function createBackup(raw: Record<string, unknown>, args: CommandArguments): Promise<Report> {
  const env = readEnv(raw)
  await announceDatabase(env, false)
  const hasObjects = env.S3_BUCKET === undefined && !isSet(args, 'without-objects')
  const to = await targetOf(env, args)
  const snapshot = env.DATABASE_URL
    ? await collectPostgres(env, env.DATABASE_URL, hasObjects, textOption(args, 'dump'))
    : await collectEmbedded(env, hasObjects)
  try {
    const hasKeys = isSet(args, 'with-keys')
    if (hasKeys) await addKeys(env, snapshot.folder)
    const { schema, keys } = snapshot
    const database = env.DATABASE_URL ? ('postgres' as const) : ('embedded' as const)
    const time = new Date().toISOString()
    const state = { has_keys: hasKeys, has_objects: hasObjects, schema, keys, database }
    const bytes = await writeArchive(snapshot.folder, { format: 1, version, created_at: time, ...state }, to)
    if (textOption(args, 'to') === undefined) await giveToOwner(resolve(env.DATA_DIR))
    return describe(env, to, { bytes, ...state })
  } finally {
    await rm(snapshot.folder, { recursive: true, force: true })
  }
}

async function targetOf(env: Env, args: CommandArguments): Promise<string> {
  const named = textOption(args, 'to')
  const folder = join(resolve(env.DATA_DIR), 'backups')
  const name = `roost-${new Date().toISOString().replace(/[:.]/g, '-')}.tar.zst`
  const to = named === undefined || named === '' ? join(folder, name) : named
  requireFreePath(to)
  if (!named) await mkdir(folder, { recursive: true, mode: 0o700 })
  return to
}

/** Lets the running panel copy its database, or copies it in this process while there is none. Migrates nothing. */
async function collectEmbedded(env: Env, objects: boolean): Promise<Snapshot> {
  const request = { verb: 'backup:snapshot', input: { objects } }
  const sent = await sendToControlSocket(resolve(env.DATA_DIR), request)
  if (sent) {
    const answer = sent.answer as RpcResponse
    if ('output' in answer) return answer.output as Snapshot
    throw new OperationError(answer.fault.error, answer.fault.issues)
  }
  const directory = await openDataDirectory(env.DATA_DIR)
  try {
    const path = join(directory.path, 'database')
    const { db, exclusively, close } = await openPglite(path, undefined, { migrates: false })
    try {
      const keys = await importKeyRing(env.APP_KEYS ?? directory.secrets.appKeys)
      const described = await describeDatabase(db, keys)
      return { folder: await snapshotOf(directory.path, exclusively)({ objects }), ...described }
    } finally {
      await close()
    }
  } finally {
    await directory.release()
  }
}

/** Runs `pg_dump`, or takes its output. Links objects before and after: what the dump names exists at one of both. */
async function collectPostgres(
  env: Env,
  url: string,
  objects: boolean,
  dump: string | undefined,
): Promise<Snapshot> {
  const directory = await shareDataDirectory(env.DATA_DIR)
  const keys = await importKeyRing(env.APP_KEYS ?? directory.secrets.appKeys)
  const { db, close } = openPostgres(url, 1)
  const folder = await makeBackupFolder(directory.path)
  try {
    const described = await describeDatabase(db, keys)
    if (objects) await linkObjects(directory.path, folder)
    const target = join(folder, 'database.dump')
    if (dump === undefined) {
      const tool = await findPostgresTool('pg_dump', await serverMajorOf(db))
      const stateless = ['cache_entries', 'panel_instances'].map((name) => `--exclude-table-data=${name}`)
      const options = ['--format=custom', '--no-owner', '--no-privileges', '--no-comments', ...stateless]
      await runPostgresTool(tool, url, [...options, `--file=${target}`])
    } else await takeDump(dump, target)
    if (objects) await linkObjects(directory.path, folder)
    return { folder, ...described }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  } finally {
    await close()
  }
}

/** Returns the major version of PostgreSQL. */
export async function serverMajorOf(db: Database): Promise<number> {
  const result = await db.execute(sql`select current_setting('server_version_num')::int / 10000 as major`)
  return rowsOf<{ major: number }>(result)[0]?.major ?? 0
}

async function takeDump(from: string, target: string): Promise<void> {
  const source = from === '-' ? process.stdin : createReadStream(from)
  await pipeline(source, createWriteStream(target, { mode: 0o600 }))
  const file = await open(target)
  const { buffer } = await file.read(Buffer.alloc(5), 0, 5, 0)
  await file.close()
  if (buffer.toString() !== 'PGDMP')
    throw new OperationError('What --dump names is no output of pg_dump --format=custom.')
}

async function addKeys(env: Env, folder: string): Promise<void> {
  const { secrets } = await shareDataDirectory(env.DATA_DIR)
  const kept = { ...secrets, appKeys: env.APP_KEYS ?? secrets.appKeys }
  await writeFile(join(folder, 'secrets.json'), JSON.stringify(kept, null, 2), { mode: 0o600 })
}

type Written = { bytes: number; has_keys: boolean; has_objects: boolean } & Pick<Snapshot, 'schema' | 'keys'>

function describe(env: Env, to: string, { bytes, has_keys, has_objects, schema, keys }: Written): Report {
  const source = env.APP_KEYS === undefined ? `${resolve(env.DATA_DIR)}/secrets.json` : 'APP_KEYS'
  const lines = [
    `Written: ${to === '-' ? 'standard output' : `${resolve(to)}, ${bytes} bytes`}`,
    has_keys
      ? 'The keys are in it: keep it secret.'
      : `The keys are not in it: keep ${source} as well, without which no stored secret can be read (--with-keys).`,
    has_objects ? 'The local object store is in it.' : 'No objects are in it.',
  ]
  const file = to === '-' ? null : resolve(to)
  const json = { file, bytes: file && bytes, has_keys, has_objects, migrations: schema.count }
  return {
    text: lines.join('\n'),
    json: { ...json, keys: keys.map(({ id }) => id) },
    onStandardError: to === '-',
  }
}
