import { chmod, mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'

/** Milliseconds for an answer of the running process. */
const timeoutMs = 120_000
/** Errors of a connection when no process listens, including those for a stale file. */
const noListenerCodes = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENAMETOOLONG', 'EINVAL']

const socketPath = (directory: string) => join(directory, 'control.sock')

/** Returns the JSON document that answers a request; never rejects. */
export type ControlHandler = (rpcRequest: unknown) => Promise<unknown>

/**
 * Answers other processes of the same owner, since only this one may open the embedded database: HTTP over
 * `control.sock` in the data directory (mode 600). Replaces the file of a crashed process. `close` waits for all answers.
 */
export async function openControlSocket(
  directory: string,
  answer: ControlHandler,
): Promise<{ close: () => Promise<void> }> {
  const server = createServer((incoming, outgoing) => void respond(incoming, outgoing, answer))
  // Opened in a directory of mode 700, and moved once the mode of the socket is set.
  const temporaryDirectory = await mkdtemp(join(directory, 'c-'))
  try {
    await listenAt(server, join(temporaryDirectory, 's'))
    await chmod(join(temporaryDirectory, 's'), 0o600)
    await rename(join(temporaryDirectory, 's'), socketPath(directory))
  } catch (error) {
    server.close()
    throw error
  } finally {
    await rm(temporaryDirectory, { recursive: true, force: true })
  }
  server.unref()
  return {
    close: async () => {
      // On a disk that became read-only it stays, and the next start replaces it.
      await rm(socketPath(directory), { force: true }).catch(() => undefined)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends a request to the process that listens in this data directory; null when there is none. */
export function sendToControlSocket(
  directory: string,
  rpcRequest: unknown,
): Promise<{ answer: unknown } | null> {
  return new Promise((resolve, reject) => {
    const handleError = (error: NodeJS.ErrnoException) =>
      noListenerCodes.includes(error.code ?? '') ? resolve(null) : reject(error)
    const options = { socketPath: socketPath(directory), method: 'POST', path: '/', agent: false }
    const headers = { 'content-type': 'application/json' }
    const outgoing = request({ ...options, headers, timeout: timeoutMs }, (incoming) => {
      json(incoming).then((answer) => resolve({ answer }), reject)
    })
    outgoing.on('error', handleError)
    outgoing.on('timeout', () => outgoing.destroy(new Error('The running panel does not answer.')))
    outgoing.end(JSON.stringify(rpcRequest))
  })
}

async function respond(incoming: IncomingMessage, outgoing: ServerResponse, answer: ControlHandler) {
  try {
    const rpcRequest: unknown = JSON.parse(await text(incoming))
    const body = JSON.stringify(await answer(rpcRequest))
    outgoing.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(body)
  } catch {
    outgoing.writeHead(400, { connection: 'close' }).end()
  }
}

function listenAt(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
