import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { gameQuery } from '../adapters/game-query.ts'
import { queryWithGamedig } from '../adapters/gamedig.ts'
import type { OpenStream } from '../adapters/minecraft-status.ts'

/** Opens a TCP connection on Node. */
export const openNodeStream: OpenStream = async (address, signal) => {
  const socket = await connectSocket(address, signal)
  const { readable, writable } = Duplex.toWeb(socket)
  return { readable: readable as ReadableStream<Uint8Array>, writable }
}

/** Queries games over TCP and UDP. */
export const nodeGameQuery = gameQuery(openNodeStream, queryWithGamedig)

function connectSocket(address: { host: string; port: number }, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address)
    signal.addEventListener('abort', () => socket.destroy(new Error('The query was aborted.')), {
      once: true,
    })
    socket.once('connect', () => resolve(socket))
    // Stays for errors of an open connection, which the streams report.
    socket.on('error', reject)
  })
}
