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
import { site } from '../app/site.ts'
import { ConsoleLog } from './console/console-log.ts'
import { UsageHistory } from './console/usage-history.ts'
import { ConsoleSocket, type SocketEvent, type SocketSnapshot } from './console-socket.ts'
import { hasConsole, serverConflict } from './server-state.ts'

type ServerContext = {
  server: Server
  /** The short identifier, as used in pages and in the Client API. */
  id: string
  isOwner: boolean
  can: (permission: string) => boolean
  /** What the panel would do for users with the permission. */
  offers: ServerWithMeta['meta']['offers']
  socket: ConsoleSocket
  /** Console output and resource usage since the pages of the server were opened. */
  log: ConsoleLog
  usage: UsageHistory
}

const Context = createContext<ServerContext | null>(null)

/** Provides the server to the pages below, with one connection to its daemon for all of them. */
export function ServerProvider({ server, children }: { server: ServerWithMeta; children: ReactNode }) {
  const { attributes, meta } = server
  const id = attributes.identifier
  const live = useServerConnection(id, hasConsole(attributes, site.user?.root_admin ?? false))
  const conflict = serverConflict(attributes)
  // The connection may have been refused because of the conflict.
  useEffect(() => live.socket.retry(), [live, conflict])
  const value = useMemo(
    () => ({
      server: attributes,
      id,
      isOwner: meta.is_server_owner,
      offers: meta.offers,
      can: (permission: string) =>
        meta.user_permissions.includes('*') || meta.user_permissions.includes(permission),
      ...live,
    }),
    [attributes, id, meta, live],
  )
  return <Context value={value}>{children}</Context>
}

/** Belongs to one server: use the server as the provider's `key`. Connects while the panel would not refuse it. */
function useServerConnection(id: string, isWanted: boolean): Pick<ServerContext, 'socket' | 'log' | 'usage'> {
  const [live] = useState(() => ({
    socket: new ConsoleSocket(id),
    log: new ConsoleLog(),
    usage: new UsageHistory(),
  }))
  useEffect(() => {
    const unsubscribers = [live.log.follow(live.socket), live.usage.follow(live.socket)]
    return () => {
      for (const unsubscribe of unsubscribers) unsubscribe()
    }
  }, [live])
  useEffect(() => {
    if (!isWanted) return
    live.socket.open()
    return () => live.socket.close()
  }, [live, isWanted])
  return live
}

/** Returns the server of this page. */
export function useServer(): ServerContext {
  const value = useContext(Context)
  if (!value) throw new Error('There is no server here.')
  return value
}

/** Returns the live state: the connection, the state of the game server and its resource usage. */
export function useLive(): SocketSnapshot {
  const { socket } = useServer()
  return useSyncExternalStore(socket.subscribe, socket.getSnapshot)
}

/** Calls the listener for each event of the daemon while the component is mounted. */
export function useSocketEvents(listener: (event: SocketEvent) => void): void {
  const { socket } = useServer()
  useEffect(() => socket.onEvent(listener), [socket, listener])
}
