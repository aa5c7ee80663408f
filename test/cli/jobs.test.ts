import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Qstash, startQstash } from '../../src/dev/qstash/server.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('the command line and jobs')

describe.skipIf(!hasPostgres)('the command line and jobs', () => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let client: postgres.Sql
  let queue: Qstash

  beforeAll(async () => {
    ;[database, queue] = await Promise.all([createDatabase(), startQstash()])
    client = postgres(database.url, { max: 1, onnotice: () => undefined })
    cli = await openCommandLine({
      DATABASE_URL: database.url,
      QSTASH_URL: queue.url,
      QSTASH_TOKEN: queue.token,
      QSTASH_CURRENT_SIGNING_KEY: queue.keys.current,
      QSTASH_NEXT_SIGNING_KEY: queue.keys.next,
      JOBS_URL: 'https://jobs.panel.test',
    })
  })
  afterAll(async () => {
    await cli?.remove()
    await client?.end()
    await database?.drop()
    await queue?.close()
  })

  /** Inserts a dead job; returns its id. */
  const makeDead = async (name: string): Promise<string> => {
    const [row] =
      await client`insert into jobs (name, payload, state, deadline_at, finished_at, last_error, attempts)
      values (${name}, '{"serverId":7}', 'dead', now(), now(), 'The node did not answer.', 9) returning id`
    return String(row?.id)
  }

  it('lists those of a state or name, with why they failed', async () => {
    const id = await makeDead('sync-server')
    await makeDead('configure-node')
    const { code, stdout } = await cli.panel('job:list', '--state', 'dead', '--name', 'sync')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      new RegExp(
        `^${id}  dead .* sync-server  {"serverId":7}  9 attempts  The node did not answer.\n1 in total, page 1\n$`,
      ),
    )
    const { body } = await cli.json('job:list', '--state', 'dead')
    expect(body).toMatchObject({ total: 2, page: 1, jobs: [{ attempts: 9 }, { attempts: 9 }] })
    expect(body.jobs[0].finished_at).toEqual(expect.any(String))
  })

  it('has one tried again, which the queue is told', async () => {
    const id = await makeDead('sync-server')
    const { code, body } = await cli.json('job:retry', id)
    expect({ code, body }).toMatchObject({ code: 0, body: { id, state: 'waiting', attempts: 0 } })
    const bodies = queue.messages.map(({ body: bytes }) => JSON.parse(new TextDecoder().decode(bytes)))
    expect(bodies).toContainEqual({ job: id })
  })

  it('forgets one, and only once', async () => {
    const id = await makeDead('sync-server')
    expect(await cli.json('job:discard', id)).toEqual({ code: 0, body: { discarded: id } })
    const { code, stderr } = await cli.panel('job:discard', id)
    expect(code).toBe(1)
    expect(stderr).toContain(`There is no job ${id}.\n`)
    expect((await cli.json('job:discard', 'x')).body.issues).toMatchObject([{ field: 'job' }])
  })

  it('has the queue ask for the tick, once however often it is told', async () => {
    for (let time = 0; time < 2; time += 1) {
      expect(await cli.json('queue:schedule')).toEqual({ code: 0, body: { scheduled: true } })
    }
    expect(queue.schedules()).toMatchObject([
      { cron: '* * * * *', message: { url: 'https://jobs.panel.test/jobs/tick' } },
    ])
  })
})

describe('the command line without a queue of its own', () => {
  it('has nothing to schedule', async () => {
    const cli = await openCommandLine()
    expect(await cli.json('queue:schedule', '--create')).toEqual({ code: 0, body: { scheduled: false } })
    await cli.remove()
  })
})
