import { connect } from 'cloudflare:sockets'
import type { Egress } from '../adapters/egress.ts'
import { type GameQuery, gameQuery } from '../adapters/game-query.ts'
import type { OpenStream } from '../adapters/minecraft-status.ts'

/** Opens TCP connections on Workers. */
const openWorkersStream =
  ({ resolve }: Egress): OpenStream =>
  async (address, signal) => {
    await resolve(address.host)
    return openSocket(address, signal)
  }

const openSocket: OpenStream = async ({ host, port }, signal) => {
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
export const workersGameQuery = (egress: Egress): GameQuery => gameQuery(openWorkersStream(egress))
