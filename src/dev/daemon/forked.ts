import type { DaemonOptions } from './daemon.ts'
import type { ForkedReport, ForkedRequest } from './fork.ts'
import { systemCode } from './file-errors.ts'
import { describeError } from './panel-client.ts'
import { type RunningDaemon, startDaemon } from './start.ts'
import { becomeUser, type UnprivilegedUser } from './unprivileged-user.ts'

// All code is loaded by now: the user as whom the daemon runs may be unable to read it.
let daemon: RunningDaemon | undefined

process.on('message', (request: ForkedRequest) => {
  const answered = request.kind === 'start' ? start(request.options, request.user) : close()
  answered.catch((error: unknown) => report({ kind: 'failed', message: describeError(error) }))
})
// Without the process that started it the daemon ends as if it was killed, with its game servers.
process.on('disconnect', () => process.exit(1))
// A service manager may signal all processes at once; the one that started this daemon closes it in order.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)

async function start(options: DaemonOptions, user: UnprivilegedUser | null): Promise<void> {
  becomeUser(user, options.dataDirectory)
  daemon = await startOnFreePort({ ...options, log: (line) => report({ kind: 'log', line }) })
  report({ kind: 'listening', url: daemon.url, port: daemon.port })
  await daemon.ready
  report({ kind: 'ready' })
}

/** Starts the daemon on its port, or on another one when that is taken. */
function startOnFreePort(options: DaemonOptions): Promise<RunningDaemon> {
  return startDaemon(options).catch((error: unknown) => {
    if (systemCode(error) !== 'EADDRINUSE') throw error
    return startDaemon({ ...options, port: 0 })
  })
}

async function close(): Promise<void> {
  await daemon?.close()
  process.exit(0)
}

function report(message: ForkedReport): void {
  if (process.connected) process.send?.(message)
}
