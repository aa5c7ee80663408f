import type { Server, Socket } from 'node:net'
import {
  type ConnectionMessage,
  isMessage,
  type ListeningMessage,
  type ListenMessage,
  type SeenMessage,
  sendUp,
} from './process-messages.ts'
import type { Accepting } from './shared-port.ts'

type Address = { host: string; port: number }

/**
 * Has the process that started this one listen at an address, and gives the connections that it hands out to the server.
 * Throws where something else listens there.
 */
export async function receiveConnections(server: Server, address: Address): Promise<Accepting> {
  const place = `${address.host} ${address.port}`
  const connections = takeConnections(server, place)
  // From here on the server looks for connections that are too slow.
  server.emit('listening')
  const listening = untilListening(place)
  await sendUp({ kind: 'listen', place, ...address } satisfies ListenMessage)
  const { port, error } = await listening
  if (error) throw Object.assign(new Error(error.message), { code: error.code })
  return { port, ...connections }
}

/** Gives the server what is handed out for this place; also what comes with the answer that it is open. */
function takeConnections(server: Server, place: string): Omit<Accepting, 'port'> {
  const open = new Set<Socket>()
  const whenEmpty = Promise.withResolvers<void>()
  let isOpen = true
  const resolveIfEmpty = () => {
    if (!isOpen && open.size === 0) whenEmpty.resolve()
  }
  process.on('message', (message: unknown, handle: unknown) => {
    if (!isMessage(message, 'connection') || (message as ConnectionMessage).place !== place) return
    const { id } = message as ConnectionMessage
    const socket = handle as Socket | undefined
    const isTaken = isOpen && socket !== undefined
    // Before anything is read: what another process gets after this one has ended must be whole.
    void sendUp({ kind: 'connection-seen', place, id, isTaken } satisfies SeenMessage)
    if (!isTaken) return void socket?.destroy()
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      resolveIfEmpty()
    })
    giveTo(server, socket)
  })
  return {
    isOpen: () => isOpen,
    stop: () => {
      if (isOpen) void sendUp({ kind: 'listen-no-more', place })
      isOpen = false
      resolveIfEmpty()
      return whenEmpty.promise
    },
  }
}

/** Node opens what comes from another process without what a server of HTTP sets for its connections. */
function giveTo(server: Server, socket: Socket): void {
  socket.allowHalfOpen = true
  socket.setNoDelay(true)
  server.emit('connection', socket)
}

function untilListening(place: string): Promise<ListeningMessage> {
  const { promise, resolve } = Promise.withResolvers<ListeningMessage>()
  const listener = (message: unknown) => {
    if (!isMessage(message, 'listening') || (message as ListeningMessage).place !== place) return
    process.off('message', listener)
    resolve(message as ListeningMessage)
  }
  process.on('message', listener)
  return promise
}
