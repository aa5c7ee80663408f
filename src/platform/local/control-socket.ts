import { chmod, mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'

/** Milliseconds after which a running process that says nothing is given up. */
const patience = 120_000
/** What connecting says when nobody listens, be it that the file is a leftover. */
const nobody = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENAMETOOLONG', 'EINVAL']

const socketPath = (directory: string) => join(directory, 'control.sock')

/** Turns the JSON document of a request into that of its answer; it never rejects. */
export type ControlAnswer = (asked: unknown) => Promise<unknown>

/**
 * Lets other processes of the same owner ask this one, which alone may open the embedded database:
 * HTTP over `control.sock` in the data directory, which nobody else can connect to (mode 600). A
 * file that a crashed process left behind is replaced. `close` ends it once all answers are out.
 */
export async function openControlSocket(
  directory: string,
  answer: ControlAnswer,
): Promise<{ close: () => Promise<void> }> {
  const server = createServer((incoming, outgoing) => void respond(incoming, outgoing, answer))
  // Bound where only the owner can look, and moved once its mode is right.
  const aside = await mkdtemp(join(directory, 'c-'))
  try {
    await listenAt(server, join(aside, 's'))
    await chmod(join(aside, 's'), 0o600)
    await rename(join(aside, 's'), socketPath(directory))
  } catch (error) {
    server.close()
    throw error
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
  server.unref()
  return {
    close: async () => {
      await rm(socketPath(directory), { force: true })
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What the process that listens in this data directory answers; null when there is none. */
export function askControlSocket(directory: string, asked: unknown): Promise<{ answer: unknown } | null> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) =>
      nobody.includes(error.code ?? '') ? resolve(null) : reject(error)
    const options = { socketPath: socketPath(directory), method: 'POST', path: '/', agent: false }
    const headers = { 'content-type': 'application/json' }
    const outgoing = request({ ...options, headers, timeout: patience }, (incoming) => {
      json(incoming).then((answer) => resolve({ answer }), reject)
    })
    outgoing.on('error', refuse)
    outgoing.on('timeout', () => outgoing.destroy(new Error('The running panel does not answer.')))
    outgoing.end(JSON.stringify(asked))
  })
}

async function respond(incoming: IncomingMessage, outgoing: ServerResponse, answer: ControlAnswer) {
  try {
    const asked: unknown = JSON.parse(await text(incoming))
    const body = JSON.stringify(await answer(asked))
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
