import { resolve } from 'node:path'
import { readEnv } from '../../platform/env.ts'
import { columns, type CommandArguments, isSet, type Report, textOption } from '../command.ts'
import { OperationError, reasonOf, UsageError } from '../faults.ts'
import { rateOf, startProgress } from './progress.ts'
import { type Contents, contentsOf, copyRows } from './rows.ts'
import {
  createPartitions,
  dropForeignKeys,
  listTables,
  moveSequences,
  type Query,
  sameTexts,
  type Table,
} from './schema.ts'
import { withSource } from './source.ts'
import { withTarget } from './target.ts'

type Moved = Contents & { table: string }

/** Moves the embedded database to PostgreSQL as `database:move` is asked to. What fails leaves the target as it was. */
export async function moveDatabase(raw: Record<string, unknown>, args: CommandArguments): Promise<Report> {
  const env = readEnv(raw)
  const url = targetUrl(textOption(args, 'to') ?? env.DATABASE_URL)
  const isTrial = isSet(args, 'check')
  const startedAt = performance.now()
  const tables = await withSource(env.DATA_DIR, (source) =>
    withTarget(url, isTrial, (target) => moveTables(source, target)),
  )
  const milliseconds = performance.now() - startedAt
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const text = [
    columns(filled(tables)),
    `${rows} rows of ${tables.length} tables are equal, in ${(milliseconds / 1000).toFixed(1)} seconds: ${rateOf(rows, milliseconds)}`,
    isTrial ? 'They can be moved. Nothing was: repeat without --check.' : nextStep(env.DATA_DIR),
  ]
  return { text: text.join('\n'), json: { moved: !isTrial, rows, seconds: milliseconds / 1000, tables } }
}

const filled = (tables: Moved[]) =>
  tables.filter(({ rows }) => rows > 0).map(({ table, rows }): [string, number] => [table, rows])

const nextStep = (dataDirectory: string) =>
  `Moved. Set DATABASE_URL to the new database, keep DATA_DIR (${resolve(dataDirectory)}, with keys and objects) and start the panel.
The way back is a start without DATABASE_URL: the embedded database is as it was. Remove ${resolve(dataDirectory)}/database once it is not needed.`

function targetUrl(text: string | undefined): string {
  if (text === undefined) throw new UsageError('Missing: --to, or DATABASE_URL')
  if (!/^postgres(?:ql)?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new UsageError('--to has to be a postgres:// URL.')
  return text
}

async function moveTables(source: Query, target: Query): Promise<Moved[]> {
  for (const setting of sameTexts) await source(`set ${setting}`)
  const tables = await listTables(source)
  await createPartitions(target, tables)
  const addForeignKeys = await dropForeignKeys(target)
  const moved: Moved[] = []
  for (const table of tables.filter(({ is_unlogged: isTemporary }) => !isTemporary))
    moved.push({ table: table.name, ...(await moveTable(source, target, table)) })
  await addForeignKeys().catch((error: unknown) => {
    throw new OperationError(`The rows do not fit each other: ${reasonOf(error)}. Nothing was moved.`)
  })
  await moveSequences(source, target)
  return moved
}

async function moveTable(source: Query, target: Query, table: Table): Promise<Contents> {
  const { name } = table
  const progress = startProgress(name)
  await copyRows(source, target, table, progress.add).catch((error: unknown) => {
    throw new OperationError(`The table ${name} cannot be moved: ${reasonOf(error)}. Nothing was moved.`)
  })
  const [there, here] = await Promise.all([contentsOf(source, table), contentsOf(target, table)])
  if (there.rows !== here.rows || there.checksum !== here.checksum)
    throw new OperationError(
      `The table ${name} differs: ${there.rows} rows with checksum ${there.checksum} became ${here.rows} with ${here.checksum}. Nothing was moved.`,
    )
  await target(`analyze ${name}`)
  progress.end()
  return here
}
