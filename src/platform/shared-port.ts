import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, type ListenOptions, Server } from 'node:net'
import { receiveConnections } from './received-connections.ts'

/**
 * Sockets that accept at one port. Node accepts one connection from each in a turn of its event loop: by a single one, the
 * last of 500 new callers would be seen after 500 turns, which last for seconds while the process is busy.
 */
const acceptorCount = 32

/** Only here does the system divide callers among the sockets of a port. */
const canSharePort = process.platform === 'linux'

/** Connections are accepted at a port, until they are no longer. */
export type Accepting = {
  port: number
  isOpen: () => boolean
  /** Accepts no more, and resolves once those that were accepted are closed. */
  stop: () => Promise<void>
}

/**
 * Has the server accept connections at an address, by several sockets where the system can. One of several processes gets
 * them from the one that started it. Throws where something else listens there.
 */
export async function acceptAt(server: Server, address: { host: string; port: number }): Promise<Accepting> {
  if (cluster.isWorker) return receiveConnections(server, address)
  const listening = await listenAtAddress(server, address)
  return {
    port: (server.address() as AddressInfo).port,
    isOpen: () => server.listening,
    stop: async () => void (await Promise.all(listening.map(closeServer))),
  }
}

async function listenAtAddress(server: Server, address: ListenOptions): Promise<Server[]> {
  if (!canSharePort) return listenAll([server], address)
  // Sockets that may share a port would also share it with another panel, without an error.
  const alone = createServer()
  await listenAll([alone], address)
  const { port } = alone.address() as AddressInfo
  await closeServer(alone)
  return listenAll([server, ...Array.from({ length: acceptorCount - 1 }, () => acceptFor(server))], {
    ...address,
    port,
    reusePort: true,
  })
}

/** Opens what gives its connections to the server, with the options of `node:http` for them. */
const acceptFor = (server: Server): Server =>
  createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))

async function listenAll(servers: Server[], address: ListenOptions): Promise<Server[]> {
  try {
    await Promise.all(servers.map((each) => once(each.listen(address), 'listening')))
  } catch (error) {
    for (const each of servers) each.close()
    throw error
  }
  // What cannot be accepted, as without a free descriptor, is no reason to end.
  for (const each of servers) each.on('error', () => undefined)
  return servers
}

/** A server of HTTP would close idle connections at once, some of them under a request that is on its way. */
const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => void Server.prototype.close.call(server, () => resolve()))
