import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { listenHttp, socketAddress } from '../../src/platform/node-http.ts'
import { sendRaw } from '../support/raw-http.ts'

/** Returns the client address of a request from 127.0.0.5 with this header. */
async function addressBehind(trustedProxies: number, forwarded: string): Promise<string> {
  const app = new Hono<{ Bindings: HttpBindings }>().get('/', (c) => c.text(socketAddress(c, trustedProxies)))
  const fetch = (request: Request, bindings: unknown) => app.fetch(request, bindings as HttpBindings)
  const { port, close } = await listenHttp({ HOST: '127.0.0.1', PORT: 0 }, fetch)
  try {
    const headers = { 'x-forwarded-for': forwarded, 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' }
    const options = { headers, from: '127.0.0.5' }
    return (await sendRaw(new URL(`http://127.0.0.1:${port}`), 'GET', '/', options)).text
  } finally {
    await close()
  }
}

it.each([
  [0, '203.0.113.1', '127.0.0.5'],
  [0, '', '127.0.0.5'],
  [1, '203.0.113.1', '203.0.113.1'],
  [1, '198.51.100.1, 203.0.113.1', '203.0.113.1'],
  [2, '198.51.100.1, 203.0.113.1, 10.0.0.1', '203.0.113.1'],
  [1, '::ffff:203.0.113.1', '203.0.113.1'],
  [1, '2001:DB8::0001%eth0', '2001:db8::1'],
  [1, 'unknown', '0.0.0.0'],
  [1, '', '127.0.0.5'],
])('NW-1: behind %i trusted proxies "%s" comes from %s', async (trusted, forwarded, address) => {
  expect(await addressBehind(trusted, forwarded)).toBe(address)
})
