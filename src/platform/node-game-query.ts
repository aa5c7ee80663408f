import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { gameQuery } from '../adapters/game-query.ts'
import { askByGamedig } from '../adapters/gamedig.ts'
import type { OpenStream } from '../adapters/minecraft-status.ts'

/** A TCP connection of Node. */
export const openNodeStream: OpenStream = async (address, signal) => {
  const socket = await connected(address, signal)
  const { readable, writable } = Duplex.toWeb(socket)
  return { readable: readable as ReadableStream<Uint8Array>, writable }
}

/** Asks games as a process with TCP and UDP can. */
export const nodeGameQuery = gameQuery(openNodeStream, askByGamedig)

function connected(address: { host: string; port: number }, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address)
    signal.addEventListener('abort', () => socket.destroy(new Error('Nobody waits any more.')), {
      once: true,
    })
    socket.once('connect', () => resolve(socket))
    // Stays, for failures after the connection is made: the streams tell of them.
    socket.on('error', reject)
  })
}
