import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase, testDatabaseUrl } from '../support/database.ts'
import { makePanelFolder, type PanelFolder } from '../support/panel-folder.ts'
import { freePort } from '../support/panel-process.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

const hasPostgres = await findPostgres('starts that fail over PostgreSQL')
const keyOf = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`

let folder: PanelFolder
const running: RunningProcess[] = []
beforeEach(async () => {
  folder = await makePanelFolder()
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.kill()))
  await folder.remove()
})

async function start(env: Record<string, string>, ready = /Roost serves at/): Promise<RunningProcess> {
  const started = await startProcess('functions/all/start.js', {
    env: { PORT: '0', DATA_DIR: folder.data, DEMO: 'false', LOG_LEVEL: 'warn', ...env },
    ready,
  })
  running.push(started)
  return started
}

describe.skipIf(!hasPostgres)('a start over PostgreSQL', { timeout: 120_000 }, () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let administration: postgres.Sql
  beforeEach(async () => {
    database = await createDatabase()
    administration = postgres(testDatabaseUrl, { max: 1, onnotice: () => undefined })
  })
  afterEach(async () => {
    await Promise.all(running.map((each) => each.kill()))
    await administration?.end()
    await database?.drop()
  })

  it('is refused with other keys, and passes in each step of a rotation', async () => {
    const [old, fresh] = [keyOf('old', 1), keyOf('new', 2)]
    for (const keys of [old, `${old},${fresh}`, `${fresh},${old}`, fresh]) {
      const panel = await start({ DATABASE_URL: database.url, APP_KEYS: keys })
      await panel.stop()
      expect(panel.output()).not.toContain('keys')
    }
    await expect(start({ DATABASE_URL: database.url, APP_KEYS: old })).rejects.toThrow(
      /need other keys than those of APP_KEYS.* Set DATABASE_URL to the database of this panel, or add the keys/,
    )
    await expect(start({ DATABASE_URL: database.url })).rejects.toThrow(
      /need other keys than those of \S+secrets\.json\. Bring back that file/,
    )
    const client = postgres(database.url, { max: 1 })
    await client.unsafe(`delete from settings where key = 'keys.check'`)
    await client.end()
    await (await start({ DATABASE_URL: database.url, APP_KEYS: old })).stop()
  })

  it('answers 503 while no connection is left, says so, and serves once there is one', async () => {
    const role = `roost_test_${randomBytes(6).toString('hex')}`
    await administration.unsafe(`create role ${role} login superuser connection limit 0`)
    // The limit of a role does not hold for superusers.
    await administration.unsafe(`alter role ${role} nosuperuser`)
    const url = new URL(database.url)
    const name = url.pathname.slice(1)
    await administration.unsafe(`alter database ${name} owner to ${role}`)
    const owned = postgres(database.url, { max: 1, onnotice: () => undefined })
    await owned.unsafe(`grant all on schema public to ${role}; grant all on all tables in schema public to ${role};
      grant all on all sequences in schema public to ${role}; grant create on database ${name} to ${role}`)
    await owned.end()
    url.username = role
    try {
      const port = await freePort()
      const panel = await start({ DATABASE_URL: url.href, PORT: String(port) }, /The database is away/)
      expect(panel.output()).toContain('too many connections for role')
      const answer = await fetch(`http://127.0.0.1:${port}/api/client`)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
      expect(await answer.text()).toContain('The panel cannot reach its database right now.')
      await administration.unsafe(`alter role ${role} connection limit -1`)
      await eventually(() => panel.output().includes('Roost serves at'), 60)
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
      await panel.stop()
      await expect(
        administration
          .unsafe(`alter role ${role} connection limit 0`)
          .then(() => start({ DATABASE_URL: url.href, DATABASE_WAIT_SECONDS: '0' })),
      ).rejects.toThrow(/PostgreSQL has no connection left .* Raise max_connections/)
    } finally {
      await Promise.all(running.map((each) => each.kill()))
      await administration.unsafe(`alter database ${name} owner to postgres`)
      const left = postgres(database.url, { max: 1, onnotice: () => undefined })
      await left.unsafe(`reassign owned by ${role} to postgres; drop owned by ${role}`)
      await left.end()
      await administration.unsafe(`drop role ${role}`)
    }
  })

  it('warns of a clock that is off by minutes', async () => {
    const later = 'const now = Date.now; Date.now = () => now() + 300_000'
    const panel = await start({
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(later)}`,
    })
    expect(panel.output()).toMatch(
      /The clocks of this machine and of the database differ\..*This machine is (299|300|301) seconds ahead of the database/,
    )
    await panel.stop()
    const right = await start({ DATABASE_URL: database.url })
    expect(right.output()).not.toContain('The clocks')
  })
})

describe('the lock of DATA_DIR', { timeout: 120_000 }, () => {
  const lock = () => join(folder.data, 'lock')

  it('holds for a process of which only the id is known to be another one, as in a container', async () => {
    await start({})
    const held = JSON.parse(await readFile(lock(), 'utf8')) as Record<string, unknown>
    // In the other container the holder has an id that no process has here.
    await writeFile(lock(), JSON.stringify({ ...held, pid: 2 ** 22 + 1, host: 'other-container' }))
    await expect(start({})).rejects.toThrow(/is in use by process 4194305 on other-container\. Stop it/)
  })

  it('is taken from a process that was killed, whatever its id is today, by one of two', async () => {
    const killed = await start({})
    await killed.kill()
    const left = JSON.parse(await readFile(lock(), 'utf8')) as Record<string, unknown>
    await writeFile(lock(), JSON.stringify({ ...left, pid: process.pid }))
    const both = await Promise.allSettled([start({}), start({})])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await Promise.all(running.splice(0).map((each) => each.stop()))
    expect((await readdir(folder.data)).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  it('of another machine holds while that is seen', async () => {
    await mkdir(folder.data, { mode: 0o700 })
    await writeFile(lock(), JSON.stringify({ pid: 1, host: 'elsewhere', boot: 'another', socket: null }))
    await expect(start({})).rejects.toThrow(/on elsewhere\..* If it has ended, start again in two minutes\./)
  })
})

describe.skipIf(!canMount())('a disk of DATA_DIR', { timeout: 120_000 }, () => {
  let disk: string
  beforeEach(async () => {
    disk = join(folder.path, 'disk')
    await mkdir(disk)
    mount(disk, 'size=1m,mode=0700')
  })
  afterEach(() => void execFileSync('umount', [disk]))

  it('that is full ends the start with a message, and leaves no half of a file', async () => {
    await writeFile(join(disk, 'ballast'), Buffer.alloc(2 ** 20)).catch(() => undefined)
    await expect(start({ DATA_DIR: disk })).rejects.toThrow(
      `DATA_DIR ${disk} cannot be written: its disk is full (ENOSPC). Free space there`,
    )
    expect(await readdir(disk)).toEqual(['ballast'])
    await rm(join(disk, 'ballast'))
  })

  it('that is read-only ends the start with a message', async () => {
    execFileSync('mount', ['-o', 'remount,ro', disk])
    await expect(start({ DATA_DIR: disk })).rejects.toThrow(
      `DATA_DIR ${disk} cannot be written: its disk is read-only (EROFS). Mount it writable`,
    )
  })
})

function mount(path: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'pipe' })
}

function canMount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', '/mnt'], { stdio: 'pipe' })
    execFileSync('umount', ['/mnt'])
    return true
  } catch {
    console.log('SKIPPED disks of DATA_DIR: this account cannot mount a file system in memory.')
    return false
  }
}
