import { once } from 'node:events'
import { connect } from 'node:net'
import { Hono } from 'hono'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HttpEnv } from '../../src/http/http-env.ts'
import { jsonBytes } from '../../src/http/json-bytes.ts'
import { sendJson } from '../../src/http/json-text.ts'
import { listenHttp, whenSent } from '../../src/platform/node-http.ts'

const answerBytes = 1_000_000
const used = new Set<ArrayBufferLike>()
let listener: Awaited<ReturnType<typeof listenHttp>>

/** Answers with a megabyte of the letter in the path. */
const app = new Hono<HttpEnv>().get('/:letter', (c) => {
  c.set('whenSent', (listen) => whenSent(c as never, listen))
  const bytes = jsonBytes(answerBytes + 48_000)
  for (let at = 0; at < answerBytes / 10_000; at += 1) bytes.text(c.req.param('letter').repeat(10_000))
  const answer = bytes.finish()
  used.add(answer.buffer)
  return sendJson(c, answer)
})

beforeEach(async () => {
  used.clear()
  listener = await listenHttp({ HOST: '127.0.0.1', PORT: 0 }, (request, bindings) =>
    app.fetch(request, bindings as object),
  )
})
afterEach(() => listener.close(Date.now()))

const read = async (letter: string) => (await fetch(`http://127.0.0.1:${listener.port}/${letter}`)).text()

it('uses the bytes of answers again that were sent', async () => {
  for (const letter of 'abcdefghijkl') expect(await read(letter)).toBe(letter.repeat(answerBytes))
  expect(used.size).toBeLessThan(6)
})

it('keeps the bytes of an answer that its caller has not read yet', async () => {
  // More than the system takes from the panel for one connection.
  const letters = 'abcdefghijklmnopqrstuvwx'
  const slow = connect(listener.port, '127.0.0.1')
  await once(slow, 'connect')
  slow.pause()
  const request = (letter: string, more = '') => `GET /${letter} HTTP/1.1\r\nhost: panel\r\n${more}\r\n`
  for (const letter of letters.slice(0, -1)) slow.write(request(letter))
  slow.write(request('x', 'connection: close\r\n'))
  for (let turn = 0; turn < 8; turn += 1) expect(await read('Z')).toBe('Z'.repeat(answerBytes))

  const text = Buffer.concat(await slow.toArray()).toString('latin1')
  const bodies = [...text.matchAll(/\r\n\r\n(\w+)/g)].map(([, body = '']) => body.slice(0, answerBytes))
  expect(bodies.map((body) => body === body[0]?.repeat(answerBytes) && body[0]).join('')).toBe(letters)
})
