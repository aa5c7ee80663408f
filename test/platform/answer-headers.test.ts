import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compressAnswers } from '../../src/platform/compress-answers.ts'
import { listenHttp, outgoingHeaders } from '../../src/platform/node-http.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { makeClientToken, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let listener: Awaited<ReturnType<typeof listenHttp>>

/** Opens a port as the Node process does: headers are written in front of the answer. */
beforeEach(async () => {
  const app = serve(
    {
      services: async () => world.services,
      clientAddress: () => '192.0.2.1',
      headerWriter: (c) => outgoingHeaders(c),
      waitUntil: (_c, work) => void world.background.push(...work),
      compress: compressAnswers,
    },
    ...surfaces,
  )
  listener = await listenHttp({ HOST: '127.0.0.1', PORT: 0 }, (request, bindings) =>
    app.fetch(request, bindings as object),
  )
})
afterEach(() => listener.close(Date.now()))

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${listener.port}${path}`, {
    headers: { 'accept-encoding': 'identity', ...headers },
  })

describe('headers that Node writes in front of the answer', () => {
  it('are those of every answer, with what its limit has left', async () => {
    const token = await makeClientToken(world, await makeUser(world))
    const answer = await get('/api/client/account', { authorization: `Bearer ${token}` })
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store, private',
      'content-security-policy': "default-src 'none'",
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      vary: 'Accept-Encoding',
    })
  })

  it('are on refusals, too', async () => {
    const answer = await get('/api/client/account')
    expect(answer.status).toBe(401)
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect((await get('/a//b')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('give way to those of the handler, once', async () => {
    const page = await get('/auth/login')
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'self'; script-src/)
    const texts = await get('/locales/locale.json?locale=en&namespace=auth')
    expect(texts.headers.get('cache-control')).toBe('public, max-age=3600, stale-while-revalidate=86400')
  })

  it('change nothing of what a browser has kept', async () => {
    const path = '/locales/locale.json?locale=en&namespace=auth'
    const tag = (await get(path)).headers.get('etag') ?? ''
    const answer = await get(path, { 'if-none-match': `W/${tag}` })
    expect([answer.status, answer.headers.get('etag')]).toEqual([304, tag])
    expect(answer.headers.get('content-security-policy')).toBeNull()
    expect(answer.headers.get('cache-control')).toMatch(/^public/)
  })
})
