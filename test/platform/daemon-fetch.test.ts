import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeDaemonFetch } from '../../src/platform/node-daemon-fetch.ts'
import { defaultRule, testEgress } from '../support/egress.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let answer: Answer
let connections = 0
const daemon = createServer((request, response) => answer(request, response))
daemon.on('connection', () => (connections += 1))
let origin: string

beforeEach(async () => {
  connections = 0
  await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(daemon.address() as AddressInfo).port}`
})

afterEach(async () => {
  daemon.closeAllConnections()
  await new Promise((resolve) => daemon.close(resolve))
})

const within = (milliseconds: number) => AbortSignal.timeout(milliseconds)
const get = { method: 'GET', headers: { authorization: 'Bearer secret' } }

describe.each([
  ['over kept connections', nodeDaemonFetch(defaultRule)],
  ['by fetch', testEgress.fetch],
])('a request to a daemon %s', (_name, send) => {
  it('has its method, headers and body, and the status, headers and body of the answer', async () => {
    answer = (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const { method, url, headers } = request
        response.writeHead(202, { 'x-request-id': 'one', 'content-type': 'application/json' })
        response.end(JSON.stringify({ method, url, authorization: headers.authorization, body }))
      })
    }
    const response = await send(`${origin}/api/servers?x=1`, {
      ...get,
      method: 'POST',
      body: '{"ü":1}',
      signal: within(5_000),
    })
    expect([response.status, response.ok, response.headers.get('x-request-id')]).toEqual([202, true, 'one'])
    expect(await response.json()).toEqual({
      method: 'POST',
      url: '/api/servers?x=1',
      authorization: 'Bearer secret',
      body: '{"ü":1}',
    })
  })

  it('uses a connection again once the answer was read or has no body', async () => {
    answer = (request, response) => {
      request.resume()
      if (request.method === 'GET') response.end('{"state":"running"}')
      else response.writeHead(204).end()
    }
    for (const method of ['GET', 'POST', 'DELETE', 'GET']) {
      const response = await send(`${origin}/`, { ...get, method, signal: within(5_000) })
      expect(response.ok).toBe(true)
      expect(await response.text()).toBe(method === 'GET' ? '{"state":"running"}' : '')
      // The connection is given back in a later turn.
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(connections).toBe(1)
  })

  it('follows no redirect', async () => {
    answer = (_request, response) => response.writeHead(302, { location: `${origin}/other` }).end()
    const response = await send(`${origin}/`, { ...get, signal: within(5_000) })
    expect([response.status, response.ok]).toEqual([302, false])
  })

  it('fails when the daemon does not answer, and when it stops', async () => {
    answer = (request) => void (request.url === '/stops' && request.socket.destroy())
    await expect(send(`${origin}/`, { ...get, signal: within(50) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    await expect(send(`${origin}/stops`, { ...get, signal: within(5_000) })).rejects.toBeInstanceOf(Error)
    await expect(send('http://127.0.0.1:1/', { ...get, signal: within(5_000) })).rejects.toBeInstanceOf(Error)
  })

  it('fails with its timeout while the body comes', async () => {
    answer = (_request, response) => void response.write('{"state":')
    const response = await send(`${origin}/`, { ...get, signal: within(100) })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('fails when the daemon stops while the body comes', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"state":', () => response.destroy())
    }
    const response = await send(`${origin}/`, { ...get, signal: within(5_000) })
    await expect(response.text()).rejects.toBeInstanceOf(Error)
  })

  it('closes the connection of a body that is not read', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100000000' })
      response.write(Buffer.alloc(1000))
    }
    const closed = new Promise((resolve) =>
      daemon.once('connection', (socket) => socket.once('close', resolve)),
    )
    const response = await send(`${origin}/`, { ...get, signal: within(60_000) })
    await response.body?.cancel()
    await closed
  })
})
