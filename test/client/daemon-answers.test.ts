import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { nodes } from '../../src/db/schema.ts'
import { until } from '../support/until.ts'
import { useFileFixtures } from './file-fixtures.ts'

const { world, fixtures } = useFileFixtures()

const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]
const tooLarge = [502, 'DaemonAnswerTooLargeException']
const mib = 1024 * 1024
const entries = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `file ${at}`, mode: '-rw-r--r--', size: at, file: true }))
const list = (directory = '/') => fixtures.get('list', 'directory', directory)

describe('answers of daemons are read up to a limit', () => {
  it('DO-7: a listing shows at most 10,000 entries and says so', async () => {
    fixtures.daemon.respond({ json: entries(10_000) })
    const full = await list()
    expect([full.status, full.body.data.length, full.body.meta]).toEqual([200, 10_000, undefined])
    fixtures.daemon.respond({ json: entries(10_001) })
    const truncated = await list()
    expect([truncated.status, truncated.body.data.length]).toEqual([200, 10_000])
    expect(truncated.body.meta).toEqual({ truncated: true })
  })

  it('a listing without an end is cut off, and the connection with it', async () => {
    let isCut = false
    const part = JSON.stringify(entries(500)).slice(1, -1)
    await withEndlessDaemon(
      `[${part}`,
      `,${part}`,
      () => (isCut = true),
      async () => {
        const { status, body } = await list()
        expect([status, body.data.length, body.meta]).toEqual([200, 10_000, { truncated: true }])
      },
    )
    await until(() => expect(isCut).toBe(true))
  })

  it('a listing of more than 8 MiB is 502 with a code of its own', async () => {
    fixtures.daemon.respond({ json: [{ name: 'a', mime: 'x'.repeat(8 * mib) }] })
    expect(codeOf(await list())).toEqual(tooLarge)
    fixtures.daemon.respond({ text: ' '.repeat(8 * mib + 1) })
    expect(codeOf(await list())).toEqual(tooLarge)
  })

  it('JSON of more than 8 MiB is 502 with a code of its own', async () => {
    fixtures.daemon.respond({ json: { name: 'a.tar.gz', mime: 'x'.repeat(8 * mib) } })
    expect(codeOf(await fixtures.post('compress', { root: '/', files: ['a'] }))).toEqual(tooLarge)
  })

  it('an error of more than 64 KiB is 502 with a code of its own', async () => {
    fixtures.daemon.respond({ status: 500, json: { error: 'x'.repeat(64 * 1024) } })
    expect(codeOf(await fixtures.post('copy', { location: 'a' }))).toEqual(tooLarge)
    fixtures.daemon.respond({ status: 409, json: { error: 'x'.repeat(63 * 1024) } })
    const { status, body } = await fixtures.post('copy', { location: 'a' })
    expect([status, body.errors[0].detail]).toEqual([409, expect.stringMatching(/^x{500} /)])
  })

  it('an entry beyond the first 10,000 is still found by its name', async () => {
    fixtures.daemon.respond(({ path }) =>
      path.includes('list-directory') ? { json: entries(12_000) } : { text: 'far down' },
    )
    expect((await fixtures.get('contents', 'file', '/file 11999')).text).toBe('far down')
    expect((await fixtures.get('contents', 'file', '/file 12000')).status).toBe(404)
  })

  it('a file in a folder too large to search is 502, not missing', async () => {
    fixtures.daemon.respond({ json: [{ name: 'a', mime: 'x'.repeat(8 * mib) }] })
    expect(codeOf(await fixtures.get('contents', 'file', '/b'))).toEqual(tooLarge)
  })

  it('a listing that stops in the middle is a failure of the node', async () => {
    fixtures.daemon.respond({ text: '[{"name":"a"},{"na', headers: { 'content-length': '500' }, cut: true })
    expect(codeOf(await list())).toEqual([502, 'DaemonConnectionException'])
    for (const text of ['[{"name":"a"},', '[{"name":"a"}', '[{"name":"a"}]]', '["\\"]', '[{]', '']) {
      fixtures.daemon.respond({ text })
      expect(codeOf(await list()), text).toEqual([502, 'DaemonConnectionException'])
    }
  })
})

describe('listings of one server', () => {
  it('reach the daemon one at a time', async () => {
    const add = vi.spyOn(world.services.cache, 'add')
    let running = 0
    let most = 0
    fixtures.daemon.respond(async () => {
      running += 1
      most = Math.max(most, running)
      await until(() => expect(add.mock.calls.length).toBeGreaterThanOrEqual(4))
      running -= 1
      return { json: [] }
    })
    const answers = await Promise.all(['/', '/a', '/b', '/c'].map((directory) => list(directory)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect([most, fixtures.daemon.calls.length]).toEqual([1, 4])
  })

  it('are refused with 429 while another one takes long, and go on when it is gone', async () => {
    const key = `files-list:${fixtures.server.uuid}`
    await world.services.cache.set(key, true, 30)
    const wait = globalThis.setTimeout
    const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation((done, delay = 0) =>
      // Longer timers are the timeouts of a driver's statements.
      delay > 1000 ? wait(done, delay) : (setImmediate(done) as never),
    )
    const refused = await list()
    timers.mockRestore()
    expect(codeOf(refused)).toEqual([429, 'ThrottleRequestsException'])
    expect(fixtures.daemon.calls).toEqual([])
    world.clock.advance(31)
    expect((await list()).status).toBe(200)
    expect(await world.services.cache.get(key)).toBeNull()
  })

  it('need no cache', async () => {
    const dead = new Proxy({} as never, { get: () => () => Promise.reject(new Error('away')) })
    Object.assign(world.services, { cache: dead })
    expect((await list()).status).toBe(200)
  })
})

/** Runs `work` while the node of the server sends `first` and then `again` until the connection is closed. */
async function withEndlessDaemon(
  first: string,
  again: string,
  onClose: () => void,
  work: () => Promise<void>,
): Promise<void> {
  const http = createServer((_request, response) => {
    response.on('close', onClose)
    response.write(first)
    const more = () => {
      while (!response.destroyed && response.write(again));
    }
    response.on('drain', more)
    more()
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  try {
    await world.database.db.update(nodes).set({ daemonListen: (http.address() as AddressInfo).port })
    await work()
  } finally {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
}
