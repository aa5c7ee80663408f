import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { makeClientToken, makeUser } from '../support/factories.ts'
import { startLoad } from '../support/load.ts'
import { freePort } from '../support/panel-process.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'
import { findRedisServer, type RedisServer, startRedisServer } from '../support/redis-servers.ts'

const hasPostgres = await findPostgres('several processes')
const hasRedis = await findRedisServer('several processes over Redis')

type Machine = { port: number; process: RunningProcess; env: Record<string, string> }

/** Two machines of one panel: two processes at one port, and one at another. */
describe.skipIf(!hasPostgres || process.platform !== 'linux')('three processes on two ports', () => {
  let services: CloudServices
  let directory: string
  let database: postgres.Sql
  let pair: Machine
  let single: Machine
  let token: string

  const start = async (name: string, port: number, more: Record<string, string>): Promise<Machine> => {
    const env = {
      APP_KEYS: services.environment.APP_KEYS ?? '',
      APP_URL: `http://127.0.0.1:${port}`,
      DATABASE_URL: services.environment.DATABASE_URL ?? '',
      DATA_DIR: join(directory, name),
      DEMO: 'false',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      PORT: String(port),
      CLIENT_RATE_LIMIT: '1000000',
      ...more,
    }
    const running = await startProcess('functions/all/start.js', { env, ready: /Roost serves at/ })
    return { port, process: running, env }
  }

  beforeAll(async () => {
    services = await openCloudServices()
    directory = await mkdtemp(join(tmpdir(), 'roost-processes-'))
    database = postgres(services.environment.DATABASE_URL ?? '', { max: 2, onnotice: () => undefined })
    // Each tick stores when it began.
    await database.unsafe(`
      create table tick_log (began text, minute bigint);
      create function log_tick() returns trigger language plpgsql as $$
        begin
          insert into tick_log values (new.value, new.value::bigint / 60000);
          return null;
        end $$;
      create trigger log_tick after insert or update on cache_entries
        for each row when (new.key = 'tick:last') execute function log_tick()`)
    token = await makeClientToken(services.world, await makeUser(services.world))
    pair = await start('pair', await freePort(), { PROCESSES: '2' })
    single = await start('single', await freePort(), { CACHE_DRIVER: 'database' })
  }, 120_000)
  afterAll(async () => {
    await Promise.all([pair, single].map((machine) => machine?.process.stop()))
    await database?.end()
    await services?.close()
    await rm(directory, { recursive: true, force: true })
  })

  const load = (ports: number[]) => startLoad({ ports, path: '/api/client/account', token, callers: 12 })

  it('lose no request but those in flight on the one that is killed', { timeout: 180_000 }, async () => {
    const running = load([pair.port, single.port])
    await running.answers(100)
    for (const kill of [0, 1]) {
      const before = await processesOf(pair)
      expect(before).toHaveLength(2)
      process.kill(before[kill] ?? 0, 'SIGKILL')
      await running.answers(200)
      // It is started again, beside the one that went on.
      await eventually(async () => {
        const now = await processesOf(pair)
        return now.length === 2 && !now.includes(before[kill] ?? 0)
      }, 60)
    }
    await single.process.kill()
    await running.answers(200)
    single = await start('single', single.port, { CACHE_DRIVER: 'database' })
    await running.answers(200)
    await running.stop()
    // Each caller had one request in flight, which three processes took with them: its connection was closed.
    const expected = ['200', 'ECONNRESET', 'EPIPE']
    expect(Object.keys(running.counts).filter((outcome) => !expected.includes(outcome))).toEqual([])
    expect(running.worst()).toBeLessThanOrEqual(3)
    expect(pair.process.output()).toContain('A process ended and is started again.')
  })

  it(
    'answer what was on its way to one that is killed before it has seen it',
    { timeout: 60_000 },
    async () => {
      const before = await processesOf(pair)
      const [standing = 0] = before
      process.kill(standing, 'SIGSTOP')
      const headers = { authorization: `Bearer ${token}`, connection: 'close' }
      const answers = Array.from({ length: 6 }, async () => {
        const answer = await fetch(`http://127.0.0.1:${pair.port}/api/client/account`, { headers })
        await answer.text()
        return answer.status
      })
      // All but the one that waits for the process which stands still.
      let answered = 0
      for (const each of answers) void each.then(() => (answered += 1))
      await eventually(() => answered >= 5)
      process.kill(standing, 'SIGKILL')
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 6 }, () => 200))
      await eventually(async () => (await processesOf(pair)).length === 2, 60)
    },
  )

  it('let no caller wait for one that is starting', { timeout: 90_000 }, async () => {
    // The younger one: the test before may have ended while it was starting.
    const [, younger = 0] = await processesOf(pair)
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    await database.begin(async (sql) => {
      // What a process waits for once it listens.
      await sql`lock table panel_instances in access exclusive mode`
      process.kill(younger, 'SIGKILL')
      await eventually(async () => {
        const now = await processesOf(pair)
        const [found] = await database<{ waits: boolean }[]>`
          select exists (select from pg_locks where not granted and relation = 'panel_instances'::regclass) as waits`
        return found?.waits === true && now.length === 2 && !now.includes(younger)
      }, 60)
      const answers = Array.from({ length: 8 }, async () => {
        const answer = await fetch(`http://127.0.0.1:${pair.port}/api/client/account`, { headers })
        await answer.text()
        return answer.status
      })
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 8 }, () => 200))
    })
    await eventually(async () => (await processesOf(pair)).length === 2, 60)
  })

  it.each(['SIGHUP', 'SIGUSR2'] as const)(
    'are replaced one after the other at %s, without a lost request',
    { timeout: 180_000 },
    async (signal) => {
      const before = await processesOf(pair)
      const running = load([pair.port])
      await running.answers(100)
      pair.process.child.kill(signal)
      await eventually(async () => {
        const now = await processesOf(pair)
        return now.length === 2 && now.every((pid) => !before.includes(pid))
      }, 120)
      await running.answers(200)
      await running.stop()
      expect(Object.keys(running.counts)).toEqual(['200'])
    },
  )

  it('end in order while one of them is replaced', { timeout: 90_000 }, async () => {
    const ending = await start('ending', await freePort(), { PROCESSES: '2' })
    ending.process.child.kill('SIGHUP')
    await eventually(async () => (await processesOf(ending)).length === 3)
    await ending.process.stop()
    expect(ending.process.child.exitCode).toBe(0)
    expect(ending.process.output()).not.toContain('A new process did not start')
  })

  it('tick once a minute, all together', { timeout: 180_000 }, async () => {
    const minute = Math.floor(Date.now() / 60_000)
    const begun = () => database<{ minute: string }[]>`select minute from tick_log order by minute`
    await eventually(async () => (await begun()).some((each) => Number(each.minute) > minute), 90)
    const minutes = (await begun()).map((each) => Number(each.minute))
    expect(minutes).toEqual([...new Set(minutes)])
  })

  it('are refused a folder that is in use, and keys that differ', { timeout: 60_000 }, async () => {
    const port = await freePort()
    await expect(start('pair', port, { PROCESSES: '2' })).rejects.toThrow('is in use by process')
    const keys = `k1:${Buffer.alloc(32, 9).toString('base64')}`
    await expect(start('different', port, { PROCESSES: '2', APP_KEYS: keys })).rejects.toThrow(
      /APP_KEYS differ from those of the panel on .+ Set the same APP_KEYS on every machine/,
    )
    await expect(start('different', port, { PROCESSES: '2', DATABASE_URL: '' })).rejects.toThrow(
      'PROCESSES: more than one need PostgreSQL; set DATABASE_URL, or leave PROCESSES at 1',
    )
  })

  it('say that another machine has another cache', { timeout: 60_000 }, async () => {
    const other = await start('other', await freePort(), {})
    await other.process.stop()
    expect(other.process.output()).toContain('A panel on another machine has another cache')
    expect(other.process.output()).toContain('A panel on another machine has another object store')
  })
})

describe.skipIf(!hasPostgres || !hasRedis)('a limit over several processes', () => {
  let redis: RedisServer
  let services: CloudServices
  let directory: string

  beforeAll(async () => {
    redis = await startRedisServer()
    services = await openCloudServices()
    directory = await mkdtemp(join(tmpdir(), 'roost-limits-'))
  })
  afterAll(async () => {
    await redis?.close()
    await services?.close()
    await rm(directory, { recursive: true, force: true })
  })

  it.each(['PostgreSQL', 'Redis'])('holds with counters in %s', { timeout: 120_000 }, async (place) => {
    const limit = 40
    const port = await freePort()
    const panel = await startProcess('functions/all/start.js', {
      env: {
        APP_KEYS: services.environment.APP_KEYS ?? '',
        DATABASE_URL: services.environment.DATABASE_URL ?? '',
        DATA_DIR: join(directory, place),
        LOG_LEVEL: 'warn',
        PORT: String(port),
        PROCESSES: '2',
        CLIENT_RATE_LIMIT: String(limit),
        ...(place === 'Redis' ? { REDIS_URL: `redis://127.0.0.1:${redis.port}` } : {}),
      },
      ready: /Roost serves at/,
    })
    try {
      const token = await makeClientToken(services.world, await makeUser(services.world))
      const headers = { authorization: `Bearer ${token}`, connection: 'close' }
      const statuses = await Promise.all(
        Array.from({ length: 3 * limit }, async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/api/client/account`, { headers })
          await answer.text()
          return answer.status
        }),
      )
      expect(statuses.filter((status) => status === 200)).toHaveLength(limit)
      expect(statuses.filter((status) => status === 429)).toHaveLength(2 * limit)
      const guests = await Promise.all(
        Array.from({ length: 80 }, async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/auth/methods`, {
            headers: { connection: 'close' },
          })
          await answer.text()
          return answer.status
        }),
      )
      expect(guests.filter((status) => status === 429)).toHaveLength(20)
    } finally {
      await panel.stop()
    }
  })
})

/** Lists the processes that answer requests of a machine. */
async function processesOf({ process: { child } }: Machine): Promise<number[]> {
  const found = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
  return found.trim().split(' ').filter(Boolean).map(Number)
}
