import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Egress } from '../adapters/egress.ts'
import { type GameQuery, gameQuery } from '../adapters/game-query.ts'
import { queryWithGamedig } from '../adapters/gamedig.ts'
import type { OpenStream } from '../adapters/minecraft-status.ts'

/** Opens TCP connections on Node. */
export const openNodeStream =
  ({ connect }: Egress<Socket>): OpenStream =>
  async (address, signal) => {
    const socket = await connect(address, signal)
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
    const { readable, writable } = Duplex.toWeb(socket)
    return { readable: readable as ReadableStream<Uint8Array>, writable }
  }

/** Queries games over TCP and UDP, at the address to which the name of their server leads once. */
export const nodeGameQuery = (egress: Egress<Socket>): GameQuery =>
  gameQuery(openNodeStream(egress), async (target) => {
    const [host] = await egress.resolve(target.host).catch(() => [])
    return host === undefined ? { status: 'offline' } : queryWithGamedig({ ...target, host })
  })
