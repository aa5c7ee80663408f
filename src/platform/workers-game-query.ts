import { connect } from 'cloudflare:sockets'
import { gameQuery } from '../adapters/game-query.ts'
import type { OpenStream } from '../adapters/minecraft-status.ts'

/** Opens a TCP connection on Workers. */
const openWorkersStream: OpenStream = async ({ host, port }, signal) => {
  const socket = connect({ hostname: host, port })
  socket.closed.catch(() => undefined)
  const opened = socket.opened.then(() => undefined)
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener(
      'abort',
      () => {
        socket.close().catch(() => undefined)
        reject(new Error('The query was aborted.'))
      },
      { once: true },
    )
  })
  aborted.catch(() => undefined)
  await Promise.race([opened, aborted])
  return { readable: abortableStream(socket.readable, aborted), writable: socket.writable }
}

/** Ends reads when `aborted` rejects: a read in progress may never settle after its socket is closed. */
function abortableStream(
  readable: ReadableStream<Uint8Array>,
  aborted: Promise<never>,
): ReadableStream<Uint8Array> {
  const reader = readable.getReader()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await Promise.race([reader.read(), aborted])
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** Queries games over TCP: Minecraft's Java Edition only, since Workers have no UDP. */
export const workersGameQuery = gameQuery(openWorkersStream)
