import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'

/**
 * Sockets that accept at one port. Node accepts one connection from each in a turn of its event loop: by a single one, the
 * last of 500 new callers would be seen after 500 turns, which last for seconds while the process is busy.
 */
const acceptorCount = 32

/** Only here does the system divide callers among the sockets of a port. */
const canSharePort = process.platform === 'linux'

/**
 * Has the server accept connections at an address, by several sockets where the system can; returns what listens, the
 * server first. Throws where something else listens there.
 */
export async function listenAtAddress(server: Server, address: ListenOptions): Promise<Server[]> {
  // One of several processes gets its connections from the one that started it, which has little else to do.
  if (!canSharePort || cluster.isWorker) return listenAll([server], address)
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

/** Accepts no more connections, and resolves once those that were accepted are closed. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => void server.close(() => resolve()))
