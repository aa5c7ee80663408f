import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy in front of a service, which can fail as networks do. */
export type TcpProxy = {
  readonly port: number
  /** `127.0.0.1:port`. */
  readonly address: string
  /** Returns the number of connections made through it. */
  readonly connections: () => number
  /** Closes all connections and refuses new ones. */
  disconnect: () => Promise<void>
  /** Keeps connections and accepts new ones, but forwards no bytes in either direction. */
  stall: () => void
  /** Forwards again; bytes sent while it was stalled are lost. */
  restore: () => Promise<void>
  close: () => Promise<void>
}

/** The failures of a service: it refuses connections, or it does not respond. */
export const failures = [
  ['stopped', (proxy: TcpProxy) => proxy.disconnect()],
  ['hanging', async (proxy: TcpProxy) => proxy.stall()],
] as const

/** Starts a proxy on a port of its own to a port of this machine. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let isStalled = false
  let connections = 0
  const join = (client: Socket) => {
    connections += 1
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => void (isStalled || to.write(chunk)))
      from.on('error', () => from.destroy())
      from.on('close', () => {
        sockets.delete(from)
        if (!isStalled) to.destroy()
      })
    }
  }
  const destroySockets = () => {
    for (const socket of sockets) socket.destroy()
  }
  let server: Server
  const listen = async (port: number) => {
    server = createServer(join)
    await once(server.listen(port, '127.0.0.1'), 'listening')
  }
  await listen(0)
  const { port } = server!.address() as AddressInfo
  const disconnect = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    destroySockets()
    await closed
  }
  return {
    port,
    address: `127.0.0.1:${port}`,
    connections: () => connections,
    disconnect,
    stall: () => void (isStalled = true),
    restore: async () => {
      if (isStalled) destroySockets()
      isStalled = false
      if (!server.listening) await listen(port)
    },
    close: disconnect,
  }
}
