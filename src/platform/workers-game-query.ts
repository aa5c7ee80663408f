import { connect } from 'cloudflare:sockets'
import { gameQuery } from '../adapters/game-query.ts'
import type { OpenStream } from '../adapters/minecraft-status.ts'

/** A TCP connection of a Worker. */
const openWorkersStream: OpenStream = async ({ host, port }, signal) => {
  const socket = connect({ hostname: host, port })
  socket.closed.catch(() => undefined)
  const opened = socket.opened.then(() => undefined)
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener(
      'abort',
      () => {
        socket.close().catch(() => undefined)
        reject(new Error('Nobody waits any more.'))
      },
      { once: true },
    )
  })
  ended.catch(() => undefined)
  await Promise.race([opened, ended])
  return { readable: endingWith(socket.readable, ended), writable: socket.writable }
}

/** A read that is under way when the socket is closed here may never settle by itself. */
function endingWith(readable: ReadableStream<Uint8Array>, ended: Promise<never>): ReadableStream<Uint8Array> {
  const reader = readable.getReader()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await Promise.race([reader.read(), ended])
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** Asks games as a Worker can, which has no UDP: Minecraft's Java Edition alone. */
export const workersGameQuery = gameQuery(openWorkersStream)
