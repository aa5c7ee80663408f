import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DaemonOptions } from './daemon.ts'
import type { UnprivilegedUser } from './unprivileged-user.ts'

/** Options that can be sent to another process. */
export type ForkOptions = Omit<DaemonOptions, 'log' | 'faults'>

export type ForkedRequest =
  | { kind: 'start'; options: ForkOptions; user: UnprivilegedUser | null }
  | { kind: 'close' }

export type ForkedReport =
  | { kind: 'log'; line: string }
  | { kind: 'listening'; url: string; port: number }
  | { kind: 'ready' }
  | { kind: 'failed'; message: string }

/** A daemon in a process of its own; see `RunningDaemon`. */
export type ForkedDaemon = { url: string; port: number; ready: Promise<void>; close: () => Promise<void> }

/** Beside this file, as a source or, in the bundle of the panel, as an entry of its own. */
const program = fileURLToPath(new URL(`./forked${extname(import.meta.url)}`, import.meta.url))

/**
 * Starts a daemon in a process of its own, as another user where one is given, and with nothing of this environment
 * but the search path and the language. Resolves when it listens, at another port when its own is taken. It ends with
 * this process, however this process ends.
 */
export async function forkDaemon(
  options: ForkOptions,
  user: UnprivilegedUser | null,
  log: (line: string) => void,
): Promise<ForkedDaemon> {
  const { PATH, LANG, TZ } = process.env
  // Operations of an io_uring keep the rights of the process that opened it.
  const values = { PATH, LANG, TZ, UV_USE_IO_URING: '0' }
  const env = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  // In a group of its own, since a terminal signals the whole group of this process.
  const child = fork(program, { env, execArgv: [], detached: true, cwd: '/' })
  const listening = Promise.withResolvers<{ url: string; port: number }>()
  const ready = Promise.withResolvers<void>()
  // A failure before the port is known is thrown there.
  ready.promise.catch(() => undefined)
  const fail = (error: Error) => {
    listening.reject(error)
    ready.reject(error)
  }
  child.on('message', (report: ForkedReport) => {
    if (report.kind === 'log') log(report.line)
    else if (report.kind === 'listening') listening.resolve(report)
    else if (report.kind === 'ready') ready.resolve()
    else fail(new Error(report.message))
  })
  child.once('error', fail)
  let isClosing = false
  child.once('exit', () => {
    fail(new Error('The development daemon has ended.'))
    if (!isClosing) log('The development daemon has ended.')
  })
  send(child, { kind: 'start', options, user })
  const close = () => {
    isClosing = true
    return closeChild(child)
  }
  try {
    const { url, port } = await listening.promise
    return { url, port, ready: ready.promise, close }
  } catch (error) {
    await close()
    throw error
  }
}

function send(child: ChildProcess, request: ForkedRequest): void {
  if (child.connected) child.send(request)
}

async function closeChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  send(child, { kind: 'close' })
  await ended
}
