import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import {
  type ConnectionMessage,
  isMessage,
  type ListeningMessage,
  type ListenMessage,
  type SeenMessage,
} from './process-messages.ts'

/** A port, the processes that answer there, and the connections that none of them has yet. */
type Place = {
  name: string
  server: Server
  /** Resolves once the port is open. Rejects where something else listens there. */
  opened: Promise<unknown>
  members: Set<Worker>
  /** Members that have seen what they were given. */
  free: Worker[]
  waiting: Socket[]
  /** Connections on their way to a process, by their id. */
  given: Map<number, { worker: Worker; socket: Socket }>
}

/** Processes that have started: the others would let callers wait for it. */
const ready = new WeakSet<Worker>()

/**
 * Returns what lets a process take part in the ports that it asks for. Connections are handed out in turn, to processes that
 * have started as long as there is one. This process keeps each until the other one has seen it: node:cluster does not, and
 * a connection on its way to a process that is killed would be answered by none, and not be closed either.
 */
export function handOutConnections(): (worker: Worker) => void {
  const places = new Map<string, Place>()
  const leave = (place: Place, worker: Worker) => {
    if (!place.members.delete(worker)) return
    place.free = place.free.filter((each) => each !== worker)
    if (place.members.size > 0) return handOut(place)
    places.delete(place.name)
    closePlace(place)
  }
  const join = async (worker: Worker, { place: name, host, port }: ListenMessage) => {
    const place = places.get(name) ?? openPlace(name, host, port)
    places.set(name, place)
    place.members.add(worker)
    const answer = await place.opened.then(() => portOf(place), faultOf)
    if (answer.error) leave(place, worker)
    worker.send({ kind: 'listening', place: name, ...answer } satisfies ListeningMessage, ignore)
    if (!place.members.has(worker)) return
    place.free.push(worker)
    handOut(place)
  }
  return (worker) => {
    worker.on('message', (message: unknown) => {
      if (isMessage(message, 'listen')) return void join(worker, message as ListenMessage)
      if (isMessage(message, 'ready')) {
        ready.add(worker)
        for (const place of places.values()) handOut(place)
      }
      const place = places.get((message as Partial<SeenMessage>).place ?? '')
      if (place && isMessage(message, 'listen-no-more')) leave(place, worker)
      if (place && isMessage(message, 'connection-seen')) settle(place, worker, message as SeenMessage)
    })
    worker.once('exit', () => {
      void untilRead(worker).then(() => {
        for (const place of places.values()) {
          takeBack(place, worker)
          leave(place, worker)
        }
      })
    })
  }
}

/** Milliseconds between two looks whether all that a process has said was read, and how many there are. */
const look = { everyMs: 10, times: 100 }

/**
 * Waits until all is read that a process has said before it ended. Node emits no `disconnect` of one that ends while a
 * connection is on its way to it.
 */
async function untilRead(worker: Worker): Promise<void> {
  for (let times = 0; worker.isConnected() && times < look.times; times += 1)
    await new Promise((resolve) => setTimeout(resolve, look.everyMs))
}

function openPlace(name: string, host: string, port: number): Place {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true })
  const opened = once(server.listen({ host, port }), 'listening')
  const place: Place = {
    name,
    server,
    opened,
    members: new Set(),
    free: [],
    waiting: [],
    given: new Map(),
  }
  server.on('connection', (socket) => {
    // Else the server would ask the processes for their connections when it closes.
    Object.assign(socket, { server: null })
    socket.on('error', ignore)
    place.waiting.push(socket)
    handOut(place)
  })
  // What cannot be accepted, as without a free descriptor, is no reason to end.
  opened.then(() => server.on('error', ignore), ignore)
  return place
}

const ignore = () => undefined

const portOf = ({ server }: Place): Pick<ListeningMessage, 'port' | 'error'> => ({
  port: (server.address() as AddressInfo).port,
  error: null,
})

const faultOf = ({
  code = '',
  message,
}: NodeJS.ErrnoException): Pick<ListeningMessage, 'port' | 'error'> => ({
  port: 0,
  error: { code, message },
})

let lastId = 0

/** Takes the next process that has seen what it was given; one that is starting only where none has started. */
function takeFree({ free, members }: Place): Worker | null {
  const at = free.findIndex((worker) => ready.has(worker))
  if (at < 0 && [...members].some((worker) => ready.has(worker))) return null
  return free.splice(Math.max(0, at), 1)[0] ?? null
}

/** Gives connections to processes that have seen those before. */
function handOut(place: Place): void {
  while (place.waiting.length > 0) {
    const worker = takeFree(place)
    const socket = worker && place.waiting.shift()
    if (!worker || !socket) return
    lastId += 1
    place.given.set(lastId, { worker, socket })
    const message: ConnectionMessage = { kind: 'connection', place: place.name, id: lastId }
    // One that cannot be given comes back with the end of the process.
    worker.send(message, socket, { keepOpen: true }, ignore)
  }
}

function settle(place: Place, worker: Worker, { id, isTaken }: SeenMessage): void {
  const socket = place.given.get(id)?.socket
  place.given.delete(id)
  if (isTaken) socket?.destroy()
  else if (socket) place.waiting.unshift(socket)
  if (place.members.has(worker)) place.free.push(worker)
  handOut(place)
}

/** Takes back what a process that has ended has not seen. */
function takeBack(place: Place, worker: Worker): void {
  for (const [id, given] of place.given) {
    if (given.worker !== worker) continue
    place.given.delete(id)
    place.waiting.unshift(given.socket)
  }
}

function closePlace({ server, waiting, given }: Place): void {
  server.close()
  for (const socket of waiting.splice(0)) socket.destroy()
  for (const { socket } of given.values()) socket.destroy()
  given.clear()
}
