import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { listenHttp } from '../../src/platform/node-http.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useLogLines } from '../support/log-lines.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
const logged = useLogLines()
const levels = () => logged.lines().map(({ level }) => level as string)
const requests = () => logged.lines().filter(({ message }) => message === 'request')

describe('over a port', () => {
  let listener: Awaited<ReturnType<typeof listenHttp>>
  let socket: Socket
  beforeEach(async () => {
    listener = await listenHttp({ HOST: '127.0.0.1', PORT: 0 }, (request) => world.app.fetch(request))
    socket = connect(listener.port, '127.0.0.1')
    await once(socket, 'connect')
  })
  afterEach(async () => {
    vi.useRealTimers()
    socket.destroy()
    await listener.close(Date.now())
  })

  /** Sends the head of a change and a part of its body. */
  const begin = async (path: string, headers: string[], part: string) => {
    const lines = [`POST ${path} HTTP/1.1`, 'Host: panel.test', 'Expect: 100-continue', ...headers]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    await once(socket, 'data')
    socket.write(part)
  }
  const half = async () => {
    const token = await makeClientToken(world, await makeUser(world))
    const headers = [
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Content-Length: 100',
    ]
    await begin('/api/client/account/api-keys', headers, '{"description":')
  }

  it('a client that hangs up in the middle of its body is no 503 and no error line', async () => {
    await half()
    socket.destroy()
    await until(() => expect(requests()).toHaveLength(1))
    expect(requests()).toMatchObject([
      { level: 'info', route: '/api/client/account/api-keys', status: 400, error: 'IncompleteBodyException' },
    ])
    expect(new Set(levels())).toEqual(new Set(['info']))
  })

  it('a request body that trickles in is answered 408 after a minute, and the connection closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    await half()
    // The panel has read the head and waits for the body.
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
    for (const letter of 'abcdef') {
      socket.write(letter)
      await new Promise((resolve) => setImmediate(resolve))
      vi.advanceTimersByTime(10_001)
    }
    vi.useRealTimers()
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
      errors: [
        {
          code: 'RequestTimeoutHttpException',
          status: '408',
          detail: 'The request body was sent too slowly.',
          meta: { reason: 'body_too_slow' },
        },
      ],
    })
    expect(requests()).toMatchObject([{ level: 'info', status: 408 }])
  })

  it('more than 16 KiB of headers are answered 431 in the error shape', async () => {
    socket.write(`GET /api/client HTTP/1.1\r\nHost: panel.test\r\nX-Much: ${'x'.repeat(17 * 1024)}\r\n\r\n`)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/)
    expect(head).toMatch(/\r\nContent-Type: application\/json\r\n/)
    expect(JSON.parse(body)).toEqual({
      errors: [
        { code: 'RequestHeaderFieldsTooLargeHttpException', status: '431', detail: expect.any(String) },
      ],
    })
    expect(logged.lines()).toEqual([])
  })

  it('a request line of more than 16 KiB is answered 431 in the error shape', async () => {
    socket.write(`GET /api/client?x=${'x'.repeat(17 * 1024)} HTTP/1.1\r\nHost: panel.test\r\n\r\n`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').errors[0].status).toBe('431')
  })

  it('what is no HTTP is answered 400 in the error shape', async () => {
    socket.write('\x16\x03\x01\r\n\r\n')
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').errors[0].status).toBe('400')
  })
})

describe('a call to a node', () => {
  let node: Awaited<ReturnType<typeof makeNode>>
  let server: Awaited<ReturnType<typeof makeServer>>
  let token: string
  beforeEach(async () => {
    const owner = await makeUser(world)
    node = await makeNode(world, { daemonListen: daemon.port })
    server = await makeServer(world, { owner, node })
    token = await makeClientToken(world, owner)
  })
  const command = () =>
    world.request('POST', `/api/client/servers/${server.uuid}/command`, { token, body: { command: 'list' } })

  it.each([
    ['the 502 of a stopped server', { status: 502, json: { error: 'stopped server' } }, 502],
    ['a 400', { status: 400, json: { error: 'no' } }, 400],
    ['a 409', { status: 409, json: { error: 'busy' } }, 409],
    ['a 500', { status: 500, text: 'panic' }, 500],
    ['no answer', { drop: true } as const, 504],
  ])('that ends with %s is logged as a warning with node and server', async (_name, answer, status) => {
    daemon.respond(answer)
    expect((await command()).status).toBe(status)
    expect(logged.lines()).toMatchObject([
      {
        level: 'warn',
        message: 'A node refused or did not answer.',
        status,
        node: node.uuid,
        server: server.uuid,
        error: 'ApiError',
      },
      { level: 'info', message: 'request', status },
    ])
  })

  it('is logged as an error when the panel fails', async () => {
    Object.assign(world.services, {
      db: new Proxy(world.services.db, {
        get: () => {
          throw new TypeError('a fault of the panel')
        },
      }),
    })
    expect((await command()).status).toBe(500)
    expect(levels()).toEqual(['error', 'info'])
  })

  it('that the route refuses before is logged at info alone', async () => {
    await world.request('POST', `/api/client/servers/${server.uuid}/command`, { token, body: {} })
    await world.request('GET', '/api/client/servers/none', { token })
    await world.request('GET', '/api/client')
    await world.request('GET', '/api/application/users', { token: await makeApplicationToken(world, {}) })
    expect(levels()).toEqual(['info', 'info', 'info', 'info'])
  })

  const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${'q0zR9vVt2Xh8KcLw4yTn6uEaJs1mBdGf'}`
  const secrets = (): [name: string, error: string, secret: string][] => [
    ['its own secret', `bad token ${node.secret}`, node.secret],
    ['its own secret in a header', `got Bearer ${node.token}`, node.secret],
    ['its own secret in base64', `got ${btoa(`${node.secret}`)}`, btoa(node.secret).slice(0, 60)],
    ['its own secret at the limit of a line', `${'- '.repeat(140)}${node.secret}`, node.secret.slice(0, 10)],
    ['its own secret as a place', `no\n    at ${node.secret} (x.js:1:1)`, node.secret],
    ['a JWT', `the token ${jwt} has expired`, jwt],
    ['a password', 'login failed: password=hunter2secret', 'hunter2secret'],
    ['a signed address', `PUT https://s3.test/b?X-Amz-Signature=c4n4rysignature`, 'c4n4rysignature'],
    ['a signed address without its scheme', `//s3.test/b?token=c4n4rysignature`, 'c4n4rysignature'],
  ]

  it.each(
    [400, 403, 409, 500, 502].flatMap((status) => Array.from({ length: 9 }, (_, n) => [status, n] as const)),
  )(
    'whose answer (%d) repeats a secret is redacted before it is logged or passed on: %d',
    async (status, index) => {
      const [name, error, secret] = secrets()[index]!
      daemon.respond({ status, json: { error } })
      const { text: answered } = await command()
      expect(logged.lines()).toHaveLength(2)
      expect(logged.text(), name).not.toContain(secret)
      expect(answered, name).not.toContain(secret)
    },
  )

  it('whose answer repeats a secret is redacted in the line of a job, too', async () => {
    daemon.respond({ status: 500, json: { error: `bad token ${node.secret} and password: hunter2secret` } })
    const admin = await makeApplicationToken(world)
    await world.request('POST', `/api/application/servers/${server.id}/suspend`, { token: admin })
    world.clock.advance(120)
    await world.runJobs()
    expect(logged.lines().some(({ job }) => job !== undefined)).toBe(true)
    expect(logged.text()).not.toContain(node.secret)
    expect(logged.text()).not.toContain('hunter2secret')
  })
})
