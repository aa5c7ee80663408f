import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { afterEach, expect, it } from 'vitest'
import { listenHttp } from '../../src/platform/node-http.ts'

let close: (deadline?: number) => Promise<void> = async () => undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await close(Date.now())
})

/** Opens a port that answers every request with `ok`. */
async function open(port = 0) {
  const listener = await listenHttp({ HOST: '127.0.0.1', PORT: port }, () => new Response('ok'))
  close = listener.close
  return listener
}

it.runIf(process.platform === 'linux')('hundreds of new callers are seen within a few turns', async () => {
  const callers = 256
  const { port } = await open()
  for (let n = 0; n < callers; n += 1) sockets.push(connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: panel\r\n\r\n')
  const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount
  const before = turns()
  await Promise.all(sockets.map((socket) => once(socket, 'data')))
  // One connection in a turn would take as many turns as there are callers.
  expect(turns() - before).toBeLessThan(callers / 2)
})

it('a port that another process could share is refused where something listens', async () => {
  const { port } = await open()
  await expect(
    listenHttp({ HOST: '127.0.0.1', PORT: port }, () => new Response('other')),
  ).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('ok')
})

it('a closed port takes no caller, and may be opened again', async () => {
  const { port } = await open()
  await close()
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed')
  await open(port)
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('ok')
})
