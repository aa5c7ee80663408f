import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Client, Receiver } from '@upstash/qstash'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { qstashQueue } from '../../src/adapters/queue.ts'
import { EnvironmentError, readEnv } from '../../src/platform/env.ts'
import { backoff } from '../../src/dev/qstash/delivery.ts'
import { randomFaults } from '../../src/dev/qstash/faults.ts'
import { type Qstash, type QstashOptions, startQstash } from '../../src/dev/qstash/server.ts'

type Delivered = { path: string; method: string; body: string; headers: IncomingHttpHeaders }

let qstash: Qstash
let client: Client
let destination: Server
let origin: string
let delivered: Delivered[]
/** The status that the destination answers with, by the number of earlier deliveries. */
let statusOf: (before: number) => number

beforeEach(async () => {
  delivered = []
  statusOf = () => 200
  destination = createServer((request, response) => {
    void text(request).then((body) => {
      const { url = '', method = '', headers } = request
      const status = statusOf(delivered.length)
      delivered.push({ path: url, method, body, headers })
      response.writeHead(status, status === 489 ? { 'upstash-nonretryable-error': 'true' } : {}).end('said')
    })
  })
  await once(destination.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(destination.address() as AddressInfo).port}`
  await open()
})
afterEach(async () => {
  await qstash.close()
  destination.closeAllConnections()
  await new Promise((resolve) => destination.close(resolve))
})

/** Opens a queue and closes the previous one. A minute of it passes within six milliseconds. */
async function open(options: QstashOptions = {}): Promise<void> {
  await qstash?.close()
  qstash = await startQstash({ speed: 10_000, ...options })
  client = new Client({ baseUrl: qstash.url, token: qstash.token, devMode: false, retry: false })
}

const until = async (condition: () => boolean) => {
  for (let waited = 0; !condition(); waited += 5) {
    if (waited > 10_000) throw new Error('The condition was not met.')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('a message', () => {
  it('is delivered with its body, its headers and a signature that the SDK accepts', async () => {
    const url = `${origin}/jobs/run?x=1`
    const headers = { 'x-own': 'yes', 'content-type': 'text/csv' }
    const { messageId } = await client.publish({ url, body: 'a,ü', headers, method: 'PUT' })
    await qstash.settled()
    const [only] = delivered
    expect(delivered).toHaveLength(1)
    expect(only).toMatchObject({ path: '/jobs/run?x=1', method: 'PUT', body: 'a,ü' })
    expect(only?.headers).toMatchObject({
      'x-own': 'yes',
      'content-type': 'text/csv',
      'upstash-message-id': messageId,
      'upstash-retried': '0',
    })
    const signature = String(only?.headers['upstash-signature'])
    const receiver = new Receiver({
      currentSigningKey: qstash.keys.current,
      nextSigningKey: qstash.keys.next,
      devMode: false,
    })
    expect(await receiver.verify({ signature, body: 'a,ü', url })).toBe(true)
    await expect(receiver.verify({ signature, body: 'a,u', url })).rejects.toThrow('body hash')
    await expect(receiver.verify({ signature, body: 'a,ü', url: origin })).rejects.toThrow('subject')
  })

  it('is refused without the token', async () => {
    const other = new Client({ baseUrl: qstash.url, token: 'wrong', devMode: false, retry: false })
    await expect(other.publishJSON({ url: origin, body: 1 })).rejects.toThrow('authenticate')
    expect((await fetch(`${qstash.url}/v2/schedules`)).status).toBe(401)
    expect(qstash.messages).toEqual([])
  })

  it.each([
    [{ url: 'ftp://files.test', body: '' }, 'invalid destination'],
    [{ url: 'http://', body: '' }, 'invalid destination'],
    [{ url: 'http://a.test', body: '', delay: '5 minutes' as '5m' }, 'invalid delay'],
    [{ url: 'http://a.test', body: '', delay: 8 * 86_400 }, 'delay is longer'],
    [{ url: 'http://a.test', body: 'x'.repeat(1024 * 1024 + 1) }, 'too big'],
  ])('is refused when it cannot be delivered: %#', async (request, reason) => {
    await expect(client.publish(request)).rejects.toThrow(reason)
    expect(qstash.messages).toEqual([])
  })

  it('is delivered after its delay', async () => {
    const now = Date.now()
    await client.publishJSON({ url: `${origin}/late`, body: 1, delay: '1h1m' as '1h' })
    await client.publishJSON({ url: `${origin}/later`, body: 1, notBefore: Math.floor(now / 1000) + 7200 })
    await client.publishJSON({ url: `${origin}/soon`, body: 1, delay: 60 })
    expect(qstash.messages.map(({ delay }) => Math.round(delay / 60))).toEqual([61, expect.any(Number), 1])
    await qstash.settled()
    expect(delivered.map(({ path }) => path)).toEqual(['/soon', '/late', '/later'])
  })

  it('with a deduplication id is published once', async () => {
    const request = { url: origin, body: 1, deduplicationId: 'one' }
    const [first, second] = [await client.publishJSON(request), await client.publishJSON(request)]
    expect(second).toEqual({ ...first, deduplicated: true })
    const raw = await fetch(`${qstash.url}/v2/publish/${origin}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${qstash.token}`, 'upstash-deduplication-id': 'one' },
    })
    expect(raw.status).toBe(202)
    await qstash.settled()
    expect(delivered).toHaveLength(1)
  })

  it('is retried after failures, each time later', async () => {
    statusOf = (before) => (before < 2 ? 500 : 204)
    await client.publishJSON({ url: origin, body: 1 })
    await qstash.settled()
    expect(delivered.map(({ headers }) => headers['upstash-retried'])).toEqual(['0', '1', '2'])
    expect([1, 2, 3, 4, 5, 6].map((n) => Math.round(backoff(n)))).toEqual([
      12, 148, 1808, 22_026, 86_400, 86_400,
    ])
    expect(qstash.deadLetters).toEqual([])
  })

  it('that is never accepted becomes a dead letter, which can be retried or removed', async () => {
    statusOf = () => 503
    await client.publishJSON({ url: `${origin}/a`, body: { n: 1 }, retries: 1 })
    await client.publishJSON({ url: `${origin}/b`, body: { n: 2 }, retries: 0 })
    await qstash.settled()
    expect(delivered).toHaveLength(3)
    const { messages } = await client.dlq.listMessages({ filter: { url: `${origin}/a` } })
    expect(messages).toMatchObject([{ url: `${origin}/a`, body: '{"n":1}', responseStatus: 503 }])
    statusOf = () => 200
    await client.dlq.retry(messages.map(({ dlqId }) => dlqId))
    await qstash.settled()
    expect(delivered.at(-1)?.path).toBe('/a')
    const [left] = (await client.dlq.listMessages()).messages
    await client.dlq.delete(left?.dlqId ?? '')
    expect(await client.dlq.delete({ all: true })).toEqual({ deleted: 0 })
    expect((await client.dlq.listMessages()).messages).toEqual([])
  })

  it('that the destination refuses for good is not retried', async () => {
    statusOf = () => 489
    await client.publishJSON({ url: origin, body: 1, retries: 3 })
    await qstash.settled()
    expect(delivered).toHaveLength(1)
    expect(qstash.deadLetters).toHaveLength(1)
  })

  it('of a queue waits for the previous one', async () => {
    statusOf = (before) => (before === 0 ? 500 : 200)
    const queue = client.queue({ queueName: 'line' })
    for (const n of [1, 2, 3]) await queue.enqueueJSON({ url: origin, body: n })
    await qstash.settled()
    expect(delivered.map(({ body }) => body)).toEqual(['1', '1', '2', '3'])
  })
})

describe('faults', () => {
  it('drop, duplicate, delay and reorder messages, the same ones for the same seed', async () => {
    const shares = { dropped: 0.1, duplicated: 0.2, reordered: 0.3, dayLate: 0.05 }
    await open({ faults: randomFaults(7, shares), speed: 1_000_000 })
    for (let at = 0; at < 10; at += 1) {
      await client.batchJSON(
        Array.from({ length: 50 }, (_, n) => ({ url: origin, body: String(at * 50 + n) })),
      )
    }
    await qstash.settled()
    const bodies = delivered.map(({ body }) => Number(JSON.parse(body)))
    const dropped = 500 - new Set(bodies).size
    expect(dropped).toBeGreaterThan(25)
    expect(dropped).toBeLessThan(80)
    expect(bodies.length).toBeGreaterThan(500)
    expect(bodies).not.toEqual(bodies.toSorted((a, b) => a - b))
    const [one, other] = [randomFaults(7, shares), randomFaults(7, shares)]
    const [message] = qstash.messages
    if (!message) throw new Error('There is no message.')
    for (let n = 0; n < 100; n += 1) expect(one(message)).toEqual(other(message))
  })
})

describe('schedules', () => {
  it('are delivered every minute until they are removed, and are unique by their id', async () => {
    const tick = { scheduleId: 'tick', destination: `${origin}/jobs/tick`, cron: '* * * * *', retries: 0 }
    expect(await client.schedules.create({ ...tick, cron: '0 0 1 1 *' })).toEqual({ scheduleId: 'tick' })
    await client.schedules.create(tick)
    expect(await client.schedules.list()).toMatchObject([
      { scheduleId: 'tick', cron: '* * * * *', destination: `${origin}/jobs/tick`, retries: 0 },
    ])
    await until(() => delivered.length >= 3)
    expect(delivered[0]).toMatchObject({ path: '/jobs/tick', method: 'POST', body: '' })
    expect(delivered[0]?.headers['upstash-schedule-id']).toBe('tick')
    await client.schedules.delete('tick')
    await expect(client.schedules.get('tick')).rejects.toThrow('not found')
    await expect(client.schedules.create({ ...tick, cron: 'often' })).rejects.toThrow('invalid cron')
  })
})

describe('the queue of the panel', () => {
  const panelQueue = (changes: object = {}) =>
    qstashQueue({
      token: qstash.token,
      baseUrl: qstash.url,
      origin,
      signingKeys: { ...qstash.keys },
      verifySignature: findSigningKey,
      ...changes,
    })
  const messages = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      id: `job-${n}`,
      delaySeconds: n,
      deduplicationId: `job-${n}-0`,
    }))

  it('sends one job, and many in batches of a hundred, with their ids and nothing else', async () => {
    await panelQueue().send([])
    await panelQueue().send(messages(1))
    await qstash.settled()
    expect(delivered).toMatchObject([{ path: '/jobs/run', method: 'POST', body: '{"job":"job-0"}' }])
    await panelQueue().send(messages(250))
    await qstash.settled()
    expect(new Set(delivered.map(({ body }) => body)).size).toBe(250)
    expect(delivered).toHaveLength(250)
    expect(qstash.messages[200]).toMatchObject({ delay: 200, retries: 3, deduplicationId: 'job-200-0' })
  })

  it('passes on the trace in which a job was enqueued, if there is one', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const traced = messages(3).map((message, n) => (n === 1 ? message : { ...message, traceparent }))
    await panelQueue().send(traced.slice(0, 1))
    await panelQueue().send(traced.slice(1))
    await qstash.settled()
    const seen = new Map(delivered.map(({ body, headers }) => [body, headers.traceparent]))
    expect([0, 1, 2].map((n) => seen.get(`{"job":"job-${n}"}`))).toEqual([
      traceparent,
      undefined,
      traceparent,
    ])
  })

  it('creates one schedule for the tick, however often it is called', async () => {
    await open({ speed: 1 })
    for (let n = 0; n < 3; n += 1) await panelQueue().scheduleTick()
    expect(qstash.schedules()).toMatchObject([
      { scheduleId: 'roost-tick', cron: '* * * * *', message: { url: `${origin}/jobs/tick`, retries: 0 } },
    ])
    await expect(panelQueue().ping()).resolves.toBeUndefined()
  })

  it('accepts signatures of the queue while its keys are rolled once, and not after that', async () => {
    const queue = panelQueue()
    const lastSigner = async () => {
      await client.publishJSON({ url: `${origin}/jobs/run`, body: 1 })
      await qstash.settled()
      const last = delivered.at(-1)
      const signature = String(last?.headers['upstash-signature'])
      return queue.verifySignature({ signature, body: last?.body ?? '', path: '/jobs/run', now: new Date() })
    }
    expect(await lastSigner()).toBe('current')
    qstash.rollKeys()
    expect(await lastSigner()).toBe('next')
    qstash.rollKeys()
    expect(await lastSigner()).toBeNull()
  })

  it('rejects within seconds when the queue is unreachable, refuses, or hangs', async () => {
    await expect(panelQueue({ token: 'wrong' }).send(messages(1))).rejects.toThrow('authenticate')
    await expect(panelQueue({ baseUrl: 'http://127.0.0.1:1' }).send(messages(200))).rejects.toThrow()
    const hanging = createServer(() => undefined)
    await once(hanging.listen(0, '127.0.0.1'), 'listening')
    const baseUrl = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`
    await expect(panelQueue({ baseUrl }).ping()).rejects.toThrow('did not answer')
    hanging.closeAllConnections()
    hanging.close()
  })
})

describe('the environment', () => {
  const keys = { QSTASH_CURRENT_SIGNING_KEY: 'sig_a', QSTASH_NEXT_SIGNING_KEY: 'sig_b' }

  it('has two keys besides the token', () => {
    expect(readEnv({ QSTASH_TOKEN: 't', ...keys })).toMatchObject(keys)
  })

  it.each([
    [{ ...keys, QSTASH_NEXT_SIGNING_KEY: 'sig_a' }, 'QSTASH_NEXT_SIGNING_KEY: must differ'],
    [{ ...keys, QSTASH_CURRENT_SIGNING_KEY: '' }, 'QSTASH_CURRENT_SIGNING_KEY: is missing'],
    [{ ...keys, QSTASH_CURRENT_SIGNING_KEY: ' ' }, 'QSTASH_CURRENT_SIGNING_KEY: must not contain spaces'],
    [{ ...keys, QSTASH_DEV: 'true' }, 'QSTASH_DEV: must not be set'],
  ])('is refused with unsafe keys: %#', (variables, says) => {
    const read = () => readEnv({ QSTASH_TOKEN: 't', ...variables })
    expect(read).toThrow(EnvironmentError)
    expect(read).toThrow(says)
  })
})
