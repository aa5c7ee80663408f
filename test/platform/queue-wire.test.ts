import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Client } from '@upstash/qstash'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { qstashQueue } from '../../src/adapters/queue.ts'
import { useLogLines } from '../support/log-lines.ts'

type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string }

const origin = 'https://panel.example.com'
const url = `${origin}/jobs/run`
const token = 'token-of-the-tests'

let listener: Server
let baseUrl: string
let received: Received[]
let answers: number

const logged = useLogLines()
beforeEach(async () => {
  received = []
  answers = 200
  listener = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url: path = '', headers } = request
      received.push({ method, path, headers, body })
      response.writeHead(answers, { 'content-type': 'application/json' }).end('[]')
    })
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  baseUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
})
afterEach(async () => {
  listener.closeAllConnections()
  await new Promise((resolve) => listener.close(resolve))
})

const queue = () =>
  qstashQueue({
    token,
    baseUrl,
    origin,
    signingKeys: { current: 'a', next: 'b' },
    verifySignature: findSigningKey,
  })
const sdk = () => new Client({ token, baseUrl, devMode: false, enableTelemetry: false, retry: false })

const message = { id: 'one', delaySeconds: 5, deduplicationId: 'one-0', traceparent: '00-a-b-01' }
const other = { id: 'two', delaySeconds: 0, deduplicationId: 'two-0' }
/** Sends the same messages with the SDK. */
const published = [
  {
    url,
    body: { job: 'one' },
    delay: 5,
    deduplicationId: 'one-0',
    retries: 3,
    headers: { traceparent: '00-a-b-01' },
  },
  { url, body: { job: 'two' }, delay: 0, deduplicationId: 'two-0', retries: 3 },
] as const

/** What a request means: header names know no order, and bodies are JSON. */
const meaning = ({ body, ...request }: Received) => ({
  ...request,
  body: body === '' ? null : (JSON.parse(body) as unknown),
})

describe('the panel asks QStash in the words of its SDK', () => {
  it.each([
    ['a message', () => queue().send([message]), () => sdk().publishJSON(published[0])],
    ['several', () => queue().send([message, other]), () => sdk().batchJSON([...published])],
    ['whether it is there', () => queue().ping(), () => sdk().schedules.list()],
    [
      'for the tick',
      () => queue().scheduleTick(),
      () =>
        sdk().schedules.create({
          scheduleId: 'roost-tick',
          destination: `${origin}/jobs/tick`,
          cron: '* * * * *',
          retries: 0,
        }),
    ],
  ])('%s', async (_what, ours, theirs) => {
    await ours()
    await theirs()
    const [one, another] = received.map(meaning)
    expect(one).toEqual(another)
    expect(received).toHaveLength(2)
  })
})

it('a queue that refuses or is away leaves it to the panel to write into the log', async () => {
  answers = 500
  await expect(queue().send([message])).rejects.toThrow('The queue answered 500')
  listener.closeAllConnections()
  await new Promise((resolve) => listener.close(resolve))
  await expect(queue().send([message])).rejects.toThrow()
  expect(logged.text()).toBe('')
})
