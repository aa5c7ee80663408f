import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react'
import type { Server } from '../api/resources.ts'
import type { ServerWithMeta } from '../api/servers.ts'
import { ConsoleLog } from './console/console-log.ts'
import { UsageHistory } from './console/usage-history.ts'
import { ConsoleSocket, type SocketEvent, type SocketSnapshot } from './console-socket.ts'
import { obstacleOf } from './server-state.ts'

type ServerContext = {
  server: Server
  /** Short name of the server, as in addresses of pages and of the Client API. */
  id: string
  isOwner: boolean
  can: (permission: string) => boolean
  socket: ConsoleSocket
  /** What its console said, and what it used, since its pages were opened. */
  log: ConsoleLog
  usage: UsageHistory
}

const Context = createContext<ServerContext | null>(null)

/** The server that the pages below are about, with one line to its daemon for all of them. */
export function ServerProvider({ server, children }: { server: ServerWithMeta; children: ReactNode }) {
  const { attributes, meta } = server
  const id = attributes.identifier
  const live = useLine(id)
  const obstacle = obstacleOf(attributes)
  // What was in the way may be gone, or another may be.
  useEffect(() => live.socket.retry(), [live, obstacle])
  const value = useMemo(
    () => ({
      server: attributes,
      id,
      isOwner: meta.is_server_owner,
      can: (permission: string) =>
        meta.user_permissions.includes('*') || meta.user_permissions.includes(permission),
      ...live,
    }),
    [attributes, id, meta, live],
  )
  return <Context value={value}>{children}</Context>
}

/** Belongs to one server: whoever shows another needs another provider, by its `key`. */
function useLine(id: string): Pick<ServerContext, 'socket' | 'log' | 'usage'> {
  const [live] = useState(() => ({
    socket: new ConsoleSocket(id),
    log: new ConsoleLog(),
    usage: new UsageHistory(),
  }))
  useEffect(() => {
    const stops = [live.log.follow(live.socket), live.usage.follow(live.socket)]
    live.socket.open()
    return () => {
      live.socket.close()
      for (const stop of stops) stop()
    }
  }, [live])
  return live
}

/** The server of this page. */
export function useServer(): ServerContext {
  const value = useContext(Context)
  if (!value) throw new Error('There is no server here.')
  return value
}

/** What the line to the daemon says now: whether it is open, the server's state, its use. */
export function useLive(): SocketSnapshot {
  const { socket } = useServer()
  return useSyncExternalStore(socket.watch, socket.snapshot)
}

/** Calls for each event of the daemon while the component is shown. */
export function useSocketEvents(listener: (event: SocketEvent) => void): void {
  const { socket } = useServer()
  useEffect(() => socket.listen(listener), [socket, listener])
}
