import { once } from 'node:events'
import { WebSocket } from 'ws'
import { eventually } from './processes.ts'

/** The response of `GET …/websocket`. */
export type ConsoleCredentials = { socket: string; token: string }

/** Opens the console of a server as a browser does on a page of `origin`; records every frame. */
export async function openConsole(credentials: ConsoleCredentials, origin: string) {
  const socket = new WebSocket(credentials.socket, { origin })
  const frames: { event: string; args?: string[] }[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data))))
  await once(socket, 'open')
  const send = (event: string, ...args: string[]) => socket.send(JSON.stringify({ event, args }))
  send('auth', credentials.token)
  const seen = (event: string, text: string) => () =>
    frames.some((frame) => frame.event === event && (frame.args ?? []).join('').includes(text))
  await eventually(seen('auth success', ''))
  /** Checks whether the newest status is this one. */
  const isIn = (state: string) => () =>
    frames.findLast(({ event }) => event === 'status')?.args?.[0] === state
  return { socket, send, seen, isIn }
}
