import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient } from '../../src/web/api/query-client.ts'
import { ConsoleSocket } from '../../src/web/server/console-socket.ts'

/** Stands for the browser's WebSocket; tests speak for the daemon. */
class FakeWebSocket extends EventTarget {
  static opened: FakeWebSocket[] = []
  readonly sent: { event: string; args: string[] }[] = []
  readonly url: string
  constructor(url: string) {
    super()
    this.url = url
    FakeWebSocket.opened.push(this)
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as FakeWebSocket['sent'][number])
  }
  close(): void {
    this.lose()
  }
  accept(): void {
    this.dispatchEvent(new Event('open'))
    this.say('auth success')
  }
  say(event: string): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify({ event }) }))
  }
  lose(code = 1006): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }))
  }
  get tokens(): string[] {
    return this.sent.filter(({ event }) => event === 'auth').map(({ args }) => args[0] ?? '')
  }
}

let given = 0
let socket: ConsoleSocket

beforeEach(() => {
  vi.useFakeTimers()
  given = 0
  FakeWebSocket.opened = []
  queryClient.clear()
  vi.stubGlobal('WebSocket', FakeWebSocket)
  vi.stubGlobal('addEventListener', () => undefined)
  vi.stubGlobal('removeEventListener', () => undefined)
  vi.stubGlobal('fetch', async (address: string) => {
    expect(address).toBe('/api/client/servers/abcdefgh/websocket')
    given += 1
    return Response.json({ data: { token: `token ${given}`, socket: `wss://node.test/${given}` } })
  })
  socket = new ConsoleSocket('abcdefgh')
})
afterEach(() => {
  socket.close()
  queryClient.clear()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** The newest connection, once there are this many. */
async function connection(count: number): Promise<FakeWebSocket> {
  for (let waited = 0; FakeWebSocket.opened.length < count && waited < 100; waited += 1) {
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(FakeWebSocket.opened).toHaveLength(count)
  const newest = FakeWebSocket.opened.at(-1)
  if (!newest) throw new Error('There is no connection.')
  return newest
}

describe('the console of the panel', () => {
  it('keeps its token while it is good: connections that were lost come back with it', async () => {
    socket.open()
    for (let count = 1; count <= 8; count += 1) {
      const current = await connection(count)
      current.accept()
      expect(current.tokens).toEqual(['token 1'])
      current.lose()
    }
    expect(given).toBe(1)
  })

  it('keeps it when its page is left and opened again', async () => {
    for (let count = 1; count <= 8; count += 1) {
      socket = new ConsoleSocket('abcdefgh')
      socket.open()
      const current = await connection(count)
      current.accept()
      socket.close()
    }
    expect(given).toBe(1)
  })

  it('takes a new one on the same connection before it expires, and uses that one from then on', async () => {
    socket.open()
    const first = await connection(1)
    first.accept()
    await vi.advanceTimersByTimeAsync(1000)
    first.say('token expiring')
    first.say('token expired')
    await vi.advanceTimersByTimeAsync(100)
    expect(first.tokens).toEqual(['token 1', 'token 2'])
    first.say('auth success')
    first.lose()
    expect((await connection(2)).url).toBe('wss://node.test/2')
    expect(given).toBe(2)
  })

  it('takes a new one when the daemon rejects the one it kept', async () => {
    socket.open()
    const first = await connection(1)
    first.accept()
    first.lose()
    const second = await connection(2)
    second.dispatchEvent(new Event('open'))
    second.say('jwt error')
    await vi.advanceTimersByTimeAsync(100)
    expect(second.tokens).toEqual(['token 1', 'token 2'])
  })

  it('asks at most four times a minute while the daemon rejects every token', async () => {
    socket.open()
    const first = await connection(1)
    first.dispatchEvent(new Event('open'))
    for (let second = 0; second < 60; second += 1) {
      first.say('jwt error')
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(given).toBeLessThanOrEqual(5)
  })

  it('takes a new one when the node stays away, since the server may be elsewhere', async () => {
    socket.open()
    const first = await connection(1)
    first.accept()
    for (let second = 0; second < 60; second += 1) {
      FakeWebSocket.opened.at(-1)?.lose()
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(given).toBeGreaterThan(1)
    expect(given).toBeLessThanOrEqual(4)
  })

  it('takes a new one after it has grown old, and after a server was suspended', async () => {
    socket.open()
    const first = await connection(1)
    first.accept()
    first.lose(4409)
    const second = await connection(2)
    expect(given).toBe(2)
    second.accept()
    socket.close()
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    socket = new ConsoleSocket('abcdefgh')
    socket.open()
    await connection(3)
    expect(given).toBe(3)
  })

  it('asks for nothing while it is closed, and connects when it is opened again', async () => {
    socket.open()
    const first = await connection(1)
    first.accept()
    socket.close()
    expect(socket.getSnapshot().connection).toBe('closed')
    socket.retry()
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    expect(FakeWebSocket.opened).toHaveLength(1)
    socket.open()
    const second = await connection(2)
    second.accept()
    expect(socket.getSnapshot().connection).toBe('open')
  })
})
