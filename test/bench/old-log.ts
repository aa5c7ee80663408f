import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createOldDatabase } from '../cli/old-database.ts'
import { appKeyText } from '../cli/old-panel.ts'
import { createDatabase } from '../support/database.ts'
import { decimal, printHeading, printTable } from './table.ts'

/** What a run over the dump took. */
type OldLog = { run: string; entries: number; gib: number; read: number; seconds: number; peakMib: number }

const run = promisify(execFile)
const gibBytes = 1024 ** 3
/** Rows of one statement, about as many as fit into the buffer of mariadb-dump. */
const statementRows = 3000
const rowBytes = 296
/** The log is of five years, so that 90 days are a twentieth. */
const logMs = 5 * 365 * 86_400_000
const firstId = 1000
const maxOutputBytes = 16 * 1024 * 1024

/**
 * Measures `--check` and a move of the last 90 days from a dump of Pterodactyl 1.11 with a log of so many GiB: time and
 * memory. The build does the work where there is one. Writes the dump below the folder for temporary files.
 */
export async function measureOldLog(gib: number): Promise<OldLog[]> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-old-log-'))
  try {
    const path = join(folder, 'panel.sql')
    const entries = await writeDump(path, Math.ceil((gib * gibBytes) / rowBytes))
    const bytes = (await stat(path)).size
    const measured: OldLog[] = []
    for (const [name, words] of runs) {
      const result = await runMove(folder, ['--dump', path, '--activity', '90d', ...words])
      const activity = result.tables.find(({ table }) => table === 'activity')
      measured.push({ run: name, entries, gib: bytes / gibBytes, read: activity?.movable ?? 0, ...result })
    }
    return measured
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const runs: [string, string[]][] = [
  ['--check', ['--check']],
  ['move', []],
]

/** Writes a dump as mariadb-dump does, whose log has so many entries more, and returns how many. */
async function writeDump(path: string, entries: number): Promise<number> {
  const old = await createOldDatabase('1.11')
  try {
    const text = (await old.dump()).toString()
    await pipeline(Readable.from(withEntries(text, entries)), createWriteStream(path))
    return entries
  } finally {
    await old.drop()
  }
}

function* withEntries(dump: string, entries: number): Generator<string> {
  let rest = dump
  for (const [table, rowOf] of rowsByTable) {
    const head = `INSERT INTO \`${table}\` VALUES\n`
    const at = rest.indexOf(head)
    yield rest.slice(0, at)
    for (let id = firstId; id < firstId + entries; id += statementRows) {
      const length = Math.min(statementRows, firstId + entries - id)
      const rows = Array.from({ length }, (_, offset) => rowOf(id + offset, entries))
      yield `${head}${rows.join(',\n')};\n`
    }
    rest = rest.slice(at)
  }
  yield rest
}

/** The rows of an entry, in the order of a dump. */
const rowsByTable: [string, (id: number, entries: number) => string][] = [
  ['activity_log_subjects', (id) => `(${id},${id},'server',30)`],
  [
    'activity_logs',
    (id, entries) => {
      const time = new Date(Date.now() - logMs * (1 - (id - firstId) / entries))
      const files = `region\\/r.${id}.mca\\",\\"region\\/r.${id + 1}.mca\\",\\"playerdata\\/${id}.dat`
      const properties = `{\\"directory\\":\\"\\/world\\/${id}\\",\\"files\\":[\\"${files}\\"],\\"useragent\\":\\"Mozilla\\/5.0 (X11; Linux x86_64)\\"}`
      return `(${id},NULL,'server:file.write','203.0.113.5',NULL,'user',5,NULL,'${properties}','${time.toISOString().slice(0, 19).replace('T', ' ')}')`
    },
  ],
]

type Moved = { tables: { table: string; movable: number }[]; seconds: number; peakMib: number }

async function runMove(folder: string, words: string[]): Promise<Moved> {
  const database = await createDatabase()
  const env = { PATH: process.env.PATH, DATA_DIR: folder, DATABASE_URL: database.url, TMPDIR: folder }
  const node = (...args: string[]) => run(process.execPath, args, { env, maxBuffer: maxOutputBytes })
  try {
    await node('src/cli/scripts/migrate.ts')
    const verb = ['import:pterodactyl', '--app-key', appKeyText, '--json', ...words]
    return JSON.parse((await node('src/cli/start.js', ...verb)).stdout) as Moved
  } finally {
    await database.drop()
  }
}

/** Prints the figures. */
export function printOldLog(measured: OldLog[]): void {
  printHeading('moving in: a dump with a log of five years, of which 90 days move')
  printTable(
    ['run', 'GiB', 'entries', 'of them read', 'seconds', 'memory at most, MiB (target: 200)'],
    measured.map(({ run: name, gib, entries, read, seconds, peakMib }) => [
      name,
      decimal(gib, 1),
      String(entries),
      String(read),
      decimal(seconds, 0),
      String(peakMib),
    ]),
  )
}
