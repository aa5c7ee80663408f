import { SignJWT } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { jobs } from '../../src/db/schema.ts'
import { cancelJob, enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { runJob, sweepJobs } from '../../src/domain/jobs/run.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { inTransaction } from '../../src/panel.ts'
import { signMessage } from '../../src/dev/qstash/signature.ts'
import { panelUrl, signingKeys, useWorld } from '../support/world.ts'

const world = useWorld()
const url = `${panelUrl}/jobs/run`

/** Creates a handler that counts its calls instead of doing the work of the job. */
let calls: number
let failures: number
const handlers = {
  ...jobHandlers,
  'sync-server': async () => {
    calls += 1
    if (calls <= failures) throw new Error('not yet')
  },
}

beforeEach(() => {
  calls = 0
  failures = 0
})

const enqueueSync = (options = {}) => enqueueJob(world.panel, 'sync-server', { serverId: 1 }, options)
const rows = () => world.database.db.select().from(jobs)
const onlyJob = async () => {
  const [job] = await rows()
  if (!job) throw new Error('There is no job.')
  return job
}

async function deliver(
  body: string,
  options: { key?: string; url?: string; signature?: string; path?: string } = {},
) {
  const signature =
    options.signature ??
    signMessage({
      key: options.key ?? signingKeys.current,
      url: options.url ?? url,
      body,
      now: world.clock.now,
    })
  return world.request('POST', options.path ?? '/jobs/run', {
    raw: body,
    headers: { 'upstash-signature': signature },
  })
}

describe('a job', () => {
  it('is announced once its transaction is committed, and not when it is rolled back', async () => {
    await inTransaction(world.panel, async (tx) => {
      await enqueueJob(tx, 'sync-server', { serverId: 1 })
      expect(world.messages).toEqual([])
    })
    expect(world.messages).toMatchObject([{ delay: 0 }])
    const rolledBack = inTransaction(world.panel, async (tx) => {
      await enqueueJob(tx, 'sync-server', { serverId: 2 })
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    expect(world.messages).toHaveLength(1)
    expect(await rows()).toHaveLength(1)
  })

  it('is done once, however often its message comes', async () => {
    await enqueueSync()
    const { id } = await onlyJob()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => runJob(world.panel, id, handlers)))
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    expect(calls).toBe(1)
    expect(await runJob(world.panel, id, handlers)).toBe('not due')
  })

  it('waits for its time, whatever message comes early', async () => {
    await enqueueSync({ runAt: new Date(world.clock.now.getTime() + 90_000) })
    expect(world.messages).toMatchObject([{ delay: 90 }])
    const { id } = await onlyJob()
    expect(await runJob(world.panel, id, handlers)).toBe('not due')
    world.clock.advance(91)
    expect(await sweepJobs(world.panel, handlers)).toBe(1)
    expect(calls).toBe(1)
  })

  it('that fails is tried again later each time, until it works', async () => {
    failures = 2
    await enqueueSync()
    expect(await sweepJobs(world.panel, handlers)).toBe(1)
    const first = await onlyJob()
    expect(first).toMatchObject({ state: 'waiting', attempts: 1, lastError: 'not yet' })
    expect(first.runAt.getTime()).toBeGreaterThan(world.clock.now.getTime())
    expect(await sweepJobs(world.panel, handlers)).toBe(0)
    world.clock.advance(60)
    await sweepJobs(world.panel, handlers)
    world.clock.advance(60)
    await sweepJobs(world.panel, handlers)
    expect(await onlyJob()).toMatchObject({ state: 'done', attempts: 3, lastError: null })
  })

  it('is dead at its deadline', async () => {
    failures = 100
    await enqueueSync({ lifetimeSeconds: 30 })
    for (let minute = 0; minute < 3; minute += 1) {
      await sweepJobs(world.panel, handlers)
      world.clock.advance(60)
    }
    expect(await onlyJob()).toMatchObject({ state: 'dead', lastError: 'not yet' })
    expect(await sweepJobs(world.panel, handlers)).toBe(0)
  })

  it('left by a worker that died is taken up when its lease has run out', async () => {
    await enqueueSync()
    const hour = 3_600_000
    await world.database.db
      .update(jobs)
      .set({ leasedUntil: new Date(world.clock.now.getTime() + hour), fence: 1 })
    expect(await sweepJobs(world.panel, handlers)).toBe(0)
    world.clock.advance(3601)
    expect(await sweepJobs(world.panel, handlers)).toBe(1)
    expect(await onlyJob()).toMatchObject({ state: 'done', fence: 2 })
  })

  it('is not finished by a worker whose lease was taken over', async () => {
    await enqueueSync()
    const { id } = await onlyJob()
    const slow = {
      ...handlers,
      'sync-server': async () => {
        await world.database.db.update(jobs).set({ fence: 99 })
      },
    }
    await runJob(world.panel, id, slow)
    expect(await onlyJob()).toMatchObject({ state: 'waiting', fence: 99 })
  })

  it('with a key runs once more when it is asked for while it runs', async () => {
    await enqueueSync({ key: 'sync:1' })
    const { id } = await onlyJob()
    const overtaken = {
      ...handlers,
      'sync-server': async () => {
        calls += 1
        if (calls === 1) await enqueueSync({ key: 'sync:1' })
      },
    }
    await runJob(world.panel, id, overtaken)
    expect(await onlyJob()).toMatchObject({ state: 'waiting' })
    expect(world.messages).toHaveLength(2)
    await runJob(world.panel, id, overtaken)
    expect(await onlyJob()).toMatchObject({ state: 'done' })
    expect(calls).toBe(2)
  })

  it('with a key waits at most once, and can be cancelled', async () => {
    await enqueueSync({ key: 'sync:1' })
    await enqueueSync({ key: 'sync:1' })
    expect(await rows()).toHaveLength(1)
    await cancelJob(world.panel, 'sync:1')
    expect(await sweepJobs(world.panel, handlers)).toBe(0)
    await enqueueSync({ key: 'sync:1' })
    expect(await rows()).toHaveLength(2)
  })
})

describe('the door of the queue', () => {
  const body = async () => JSON.stringify({ job: (await onlyJob()).id })

  beforeEach(() => enqueueJob(world.panel, 'sync-server', { serverId: 4711 }))

  it('runs the job of a signed message', async () => {
    expect(await deliver(await body())).toMatchObject({ status: 200, body: { outcome: 'done' } })
    expect(await deliver(await body())).toMatchObject({ status: 200, body: { outcome: 'not due' } })
  })

  it('takes the next key while keys are rolled', async () => {
    expect((await deliver(await body(), { key: signingKeys.next })).status).toBe(200)
  })

  it('ticks', async () => {
    const path = '/jobs/tick'
    const { status, body } = await deliver('{}', { path, url: `${panelUrl}${path}` })
    expect(status).toBe(200)
    expect(body.parts.map(({ part }: { part: string }) => part)).toEqual([
      'schedules',
      'recurring',
      'trash',
      'runs',
      'heartbeats',
      'jobs',
    ])
    expect((await rows()).find(({ name }) => name === 'sync-server')?.state).toBe('done')
  })

  it('ticks for a message without a body, as schedules of the queue send', async () => {
    const path = '/jobs/tick'
    expect((await deliver('', { path, url: `${panelUrl}${path}` })).status).toBe(200)
  })

  it('refuses what the queue did not sign for this address and these bytes', async () => {
    const message = await body()
    const seconds = Math.floor(world.clock.now.getTime() / 1000)
    const claims = async (change: object, alg = 'HS256') => {
      const { createHash } = await import('node:crypto')
      const sound = {
        iss: 'Upstash',
        sub: url,
        iat: seconds,
        nbf: seconds,
        exp: seconds + 300,
        body: createHash('sha256').update(message).digest('base64url'),
      }
      const key = new TextEncoder().encode(
        signingKeys.current.padEnd(64, '0').slice(0, signingKeys.current.length),
      )
      return new SignJWT({ ...sound, ...change }).setProtectedHeader({ alg, typ: 'JWT' }).sign(key)
    }
    expect((await deliver(message, { signature: await claims({}) })).status).toBe(200)
    const forged = {
      nothing: '',
      'another key': signMessage({
        key: 'sig_of_somebody_else',
        url,
        body: message,
        now: world.clock.now,
      }),
      'another address': signMessage({
        key: signingKeys.current,
        url: 'https://evil.test/jobs/run',
        body: message,
        now: world.clock.now,
      }),
      'another body': signMessage({ key: signingKeys.current, url, body: '{}', now: world.clock.now }),
      'no expiry': await claims({ exp: undefined }),
      expired: await claims({ exp: seconds - 3600, nbf: seconds - 7200, iat: seconds - 7200 }),
      'valid for years': await claims({ exp: seconds + 86_400 * 365 }),
      'from the future': await claims({ nbf: seconds + 3600 }),
      'no body claim': await claims({ body: undefined }),
      'another algorithm': await claims({}, 'HS512'),
      'no token at all': 'a.b.c',
    }
    for (const [name, signature] of Object.entries(forged)) {
      const { status } = await deliver(message, { signature })
      expect([name, status]).toEqual([name, 401])
    }
  })

  it('refuses the public development key, whatever the environment says', async () => {
    vi.stubEnv('QSTASH_DEV', 'true')
    const known = signMessage({
      key: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r',
      url,
      body: await body(),
      now: world.clock.now,
    })
    expect((await deliver(await body(), { signature: known })).status).toBe(401)
    expect((await deliver(await body())).status).toBe(200)
  })

  it('refuses a message that was signed a day ago, however it comes again', async () => {
    const message = await body()
    const signature = signMessage({
      key: signingKeys.current,
      url,
      body: message,
      now: world.clock.now,
    })
    expect((await deliver(message, { signature })).status).toBe(200)
    world.clock.advance(86_400)
    expect((await deliver(message, { signature })).status).toBe(401)
  })

  it('tells the queue to come again while the panel cannot work, and not for what a job cannot do', async () => {
    const down = (): never => {
      throw Object.assign(new Error('gone'), { code: '08006' })
    }
    const { db } = world.services
    const message = await body()
    Object.assign(world.services, { db: new Proxy(db, { get: down }) })
    expect((await deliver(message)).status).toBe(503)
    Object.assign(world.services, { db })
    await world.database.db.update(jobs).set({ name: 'of-another-version' })
    expect(await deliver(message)).toMatchObject({ status: 200, body: { outcome: 'failed' } })
    expect(await onlyJob()).toMatchObject({ lastError: 'There is no job named of-another-version.' })
  })

  it('refuses a message that names no job', async () => {
    expect((await deliver('{"job":"everything"}')).status).toBe(422)
    expect((await deliver('not json')).status).toBe(400)
  })
})
