import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Env, readEnv } from '../../platform/env.ts'
import { sendToControlSocket } from '../../platform/local/control-socket.ts'
import { lockDataDirectory } from '../../platform/local/data-directory.ts'
import { openPglite } from '../../platform/local/pglite.ts'
import { chooseKeys, requireFitting } from './fits.ts'
import type { Manifest } from './manifest.ts'
import { readArchive } from './read.ts'
import { type Replaced, replaceFiles } from './replace-files.ts'
import { preparePostgres, restorePostgres } from './restore-postgres.ts'
import { endsWith } from './write.ts'
import { type CommandArguments, isSet, type Report } from '../command.ts'
import { OperationError } from '../faults.ts'

/** Brings back an archive as `backup:restore` is asked to. Refuses what does not fit before anything is changed. */
export async function restoreBackup(raw: Record<string, unknown>, args: CommandArguments): Promise<Report> {
  const env = readEnv(raw)
  const [file = ''] = args.positionals
  const options = {
    replaces: isSet(args, 'replace'),
    database: !isSet(args, 'without-database'),
  }
  const { manifest, hasKeys } = await restore(env, file, options)
  const text = [
    `Restored: the backup of ${manifest.created_at}, by version ${manifest.version}.`,
    hasKeys ? 'Its keys are in secrets.json.' : 'The keys are those that were here.',
    'Start the panel; it migrates the database where it does so at other starts.',
  ]
  const { created_at, version, schema } = manifest
  return {
    text: text.join('\n'),
    json: { created_at, version, migrations: schema.count, has_keys: hasKeys },
  }
}

type Options = { replaces: boolean; database: boolean }

async function restore(env: Env, file: string, options: Options) {
  const directory = await lockDataDirectory(env.DATA_DIR)
  try {
    // In another container the process that holds the lock cannot be seen.
    if (await sendToControlSocket(directory.path, { verb: 'ping', input: {} }))
      throw new OperationError(`A panel runs on ${directory.path}. Stop it, and repeat.`)
    if (!options.replaces) await requireEmpty(directory.path)
    const tool =
      env.DATABASE_URL && options.database ? await preparePostgres(env.DATABASE_URL, options.replaces) : null
    const staged = await mkdtemp(join(directory.path, 'restore-'))
    const stop = endsWith(() => rmSync(staged, { recursive: true, force: true }))
    try {
      const manifest = await readArchive(file, staged)
      requireFitting(env, manifest)
      const hasKeys = await chooseKeys(env, directory.path, staged, manifest, options.replaces)
      stop()
      await putInPlace(env, { directory: directory.path, staged, manifest, hasKeys, tool })
      return { manifest, hasKeys }
    } finally {
      stop()
      await rm(staged, { recursive: true, force: true })
    }
  } finally {
    await directory.release()
  }
}

async function requireEmpty(directory: string): Promise<void> {
  const objects = await readdir(join(directory, 'objects', 'keys')).catch(() => [])
  const found = existsSync(join(directory, 'database', 'PG_VERSION')) ? 'a database' : 'objects'
  if (found === 'objects' && objects.length === 0) return
  throw new OperationError(
    `${directory} has ${found} already. Set DATA_DIR to an empty folder, or repeat with --replace.`,
  )
}

type Prepared = {
  directory: string
  staged: string
  manifest: Manifest
  hasKeys: boolean
  tool: string | null
}

/** Restores the database, then moves the files; brings everything back when one of them fails. */
async function putInPlace(env: Env, { directory, staged, manifest, hasKeys, tool }: Prepared): Promise<void> {
  const isEmbedded = manifest.database === 'embedded'
  // Opened before it is used: then a database that cannot be opened changes nothing.
  if (isEmbedded) await (await openPglite(join(staged, 'database'))).close()
  const done: Replaced[] = []
  try {
    if (tool && env.DATABASE_URL)
      done.push(await restorePostgres(tool, env.DATABASE_URL, join(staged, 'database.dump')))
    const names = [
      ...(isEmbedded ? ['database'] : []),
      ...(existsSync(join(staged, 'objects')) ? ['objects'] : []),
      ...(hasKeys ? ['secrets.json'] : []),
    ]
    done.push(await replaceFiles(staged, directory, names))
  } catch (error) {
    for (const each of done.toReversed()) await each.undo()
    throw error
  }
  for (const each of done) await each.keep()
}
