import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP line of this machine to some service, which can fail as lines do. */
export type Line = {
  readonly port: number
  /** `127.0.0.1:port`. */
  readonly address: string
  /** How many connections were made over it. */
  readonly connections: () => number
  /** Connections are cut, and further ones refused. */
  cut: () => Promise<void>
  /** Connections stay and further ones are taken, but nothing comes through, either way. */
  silence: () => void
  /** All is well again; what was under way while it was silent is lost. */
  mend: () => Promise<void>
  close: () => Promise<void>
}

/** Both ways in which a part of the panel can be away. */
export const failures = [
  ['stopped', (line: Line) => line.cut()],
  ['hanging', async (line: Line) => line.silence()],
] as const

/** Opens a line on a port of its own to a port of this machine. */
export async function openLine(target: number): Promise<Line> {
  const sockets = new Set<Socket>()
  let isSilent = false
  let connections = 0
  const join = (near: Socket) => {
    connections += 1
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => void (isSilent || to.write(chunk)))
      from.on('error', () => from.destroy())
      from.on('close', () => {
        sockets.delete(from)
        if (!isSilent) to.destroy()
      })
    }
  }
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  let server: Server
  const listen = async (port: number) => {
    server = createServer(join)
    await once(server.listen(port, '127.0.0.1'), 'listening')
  }
  await listen(0)
  const { port } = server!.address() as AddressInfo
  const cut = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    hangUp()
    await closed
  }
  return {
    port,
    address: `127.0.0.1:${port}`,
    connections: () => connections,
    cut,
    silence: () => void (isSilent = true),
    mend: async () => {
      if (isSilent) hangUp()
      isSilent = false
      if (!server.listening) await listen(port)
    },
    close: cut,
  }
}
