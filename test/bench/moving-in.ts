import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { daysAgo } from '../cli/old-activity.ts'
import { appKeyText, createOldPanel, type OldPanel } from '../cli/old-panel.ts'
import { createDatabase } from '../support/database.ts'
import { decimal, printHeading, printTable } from './table.ts'

/** What moving in takes with a number of entries in the log. */
type MovingIn = { entries: number; seconds: number; repeatSeconds: number; peakMib: number }

const run = promisify(execFile)
const servers = 1000
const entryCounts = [10_000, 50_000, 1_000_000]
const maxOutputBytes = 16 * 1024 * 1024

/** Measures how long 1,000 servers take to move in from MariaDB, and the memory of that, by the size of the log. */
export async function measureMovingIn(counts = entryCounts): Promise<MovingIn[]> {
  const old = await createOldPanel('pterodactyl')
  try {
    await addServers(old)
    const measured: MovingIn[] = []
    for (const entries of counts) {
      await addEntries(old, entries)
      measured.push(await measureMove(old, entries))
    }
    return measured
  } finally {
    await old.drop()
  }
}

async function addServers(old: OldPanel): Promise<void> {
  const uuid = `concat('b', lpad(seq, 7, '0'), '-0000-4000-8000-000000000000')`
  const rows = `from seq_1000_to_${999 + servers}`
  await old.query(
    `insert into allocations (id, node_id, ip, port, server_id) select seq, 7, '10.0.0.2', seq, seq ${rows}`,
  )
  await old.query(
    `insert into servers (id, uuid, uuidShort, node_id, name, description, owner_id, memory, swap, disk, io, cpu, egg_id, nest_id, startup, image, allocation_id)
      select seq, ${uuid}, left(${uuid}, 8), 7, concat('Server ', seq), '', 5, 1024, 0, 2048, 500, 100, 21, 11, 'run', 'image:1', seq ${rows}`,
  )
}

/** Adds entries until the log has that many. */
async function addEntries(old: OldPanel, entries: number): Promise<void> {
  const [[last]] = (await old.query('select max(id) as id from activity_logs')) as [[{ id: number }]]
  const rows = `from seq_${last.id + 1}_to_${entries}`
  const properties = `concat('{"directory":"/world","files":["region/r.', seq, '.mca"]}')`
  await old.query(
    `insert into activity_logs (id, event, ip, actor_type, actor_id, properties, timestamp)
      select seq, elt(1 + seq % 3, 'server:file.write', 'server:console.command', 'server:power.start'), '203.0.113.5',
        'user', 5, ${properties}, '${daysAgo(80)}' + interval (seq % 6000000) second ${rows}`,
  )
  await old.query(
    `insert into activity_log_subjects (activity_log_id, subject_type, subject_id) select seq, 'server', 1000 + seq % ${servers} ${rows}`,
  )
}

async function measureMove(old: OldPanel, entries: number): Promise<MovingIn> {
  const database = await createDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'roost-bench-'))
  const environment = { PATH: process.env.PATH, DATA_DIR: folder, DATABASE_URL: database.url }
  const node = async (...words: string[]) => {
    const options = { env: environment, maxBuffer: maxOutputBytes }
    return (await run(process.execPath, words, options)).stdout
  }
  const words = ['src/cli/start.js', 'import:pterodactyl', '--database', old.url, '--app-key', appKeyText]
  const move = async () => JSON.parse(await node(...words, '--json')) as { seconds: number; peakMib: number }
  try {
    await node('src/cli/scripts/migrate.ts')
    const { seconds, peakMib } = await move()
    return { entries, seconds, peakMib, repeatSeconds: (await move()).seconds }
  } finally {
    await rm(folder, { recursive: true, force: true })
    await database.drop()
  }
}

/** Prints the figures. */
export function printMovingIn(measured: MovingIn[]): void {
  printHeading(`moving in: ${servers} servers from MariaDB, with activity`)
  printTable(
    ['entries', 'seconds', 'again', 'memory at most, MiB (target: 200)'],
    measured.map(({ entries, seconds, repeatSeconds, peakMib }) => [
      String(entries),
      decimal(seconds, 1),
      decimal(repeatSeconds, 1),
      String(peakMib),
    ]),
  )
}
