import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Daemon } from './daemon.ts'
import { publish, type GameServer, type ServerTransfer } from './game-server.ts'
import { describe } from './panel-client.ts'
import { haveStopped } from './power.ts'
import { packDirectory } from './transfer-archive.ts'

/** Where a server goes to; `token` is the whole Authorization header. */
export type Destination = { url: string; token: string }

const longestStop = 15_000

/**
 * Stops the server and then sends its files in the background; until it is deleted or the transfer fails no power
 * action is possible. False, with nothing changed, when it does not stop. Wings: POST /api/servers/{uuid}/transfer
 */
export async function sendServer(
  daemon: Daemon,
  server: GameServer,
  destination: Destination,
): Promise<boolean> {
  const cancellation = new AbortController()
  const transfer: ServerTransfer = {
    direction: 'outgoing',
    abort: () => cancellation.abort(),
    ended: Promise.resolve(),
  }
  server.transfer = transfer
  if (!(await haveStopped(daemon, server, longestStop))) {
    server.transfer = undefined
    return false
  }
  transfer.ended = run(daemon, server, destination, cancellation.signal).then(() => {
    // Nothing is left to stop: whoever gives the transfer up now only frees the server.
    transfer.abort = () => void (server.transfer = undefined)
  })
  return true
}

/** Only the target reports a success; a failure both do, and the panel hears the first. */
async function run(
  daemon: Daemon,
  server: GameServer,
  destination: Destination,
  signal: AbortSignal,
): Promise<void> {
  try {
    publish(server, 'transfer status', 'processing')
    publish(server, 'transfer logs', 'The files of the server are sent to the other node.')
    await push(server, destination, signal)
    publish(server, 'transfer logs', 'The other node has the files of the server.')
  } catch (error) {
    if (server.deleted || daemon.closing) return
    daemon.log(`${server.uuid}: not transferred: ${describe(error)}`)
    server.transfer = undefined
    publish(server, 'transfer logs', `The transfer has failed: ${describe(error)}`)
    publish(server, 'transfer status', 'failure')
    await reportFailure(daemon, server.uuid)
  }
}

async function push(server: GameServer, { url, token }: Destination, signal: AbortSignal): Promise<void> {
  const boundary = `transfer-${randomUUID()}`
  const request = {
    method: 'POST',
    headers: { Authorization: token, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Readable.toWeb(Readable.from(encode(server.directory, boundary))) as ReadableStream,
    duplex: 'half',
    signal,
  }
  const answer = await fetch(url, request)
  if (!answer.ok)
    throw new Error(`the target answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
  await answer.body?.cancel()
}

/** The archive, and after it what it must amount to. */
async function* encode(directory: string, boundary: string): AsyncGenerator<Buffer> {
  const open = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}`
  const hash = createHash('sha256')
  yield Buffer.from(
    `${open('name="archive"; filename="archive.tar.gz"')}\r\nContent-Type: application/gzip\r\n\r\n`,
  )
  for await (const chunk of packDirectory(directory)) {
    hash.update(chunk)
    yield chunk
  }
  yield Buffer.from(`\r\n${open('name="checksum"')}\r\n\r\n${hash.digest('hex')}\r\n--${boundary}--\r\n`)
}

/** Tells the panel that a transfer has failed; its refusal means that it knows. Wings: POST …/transfer/failure */
export async function reportFailure(daemon: Daemon, uuid: string): Promise<boolean> {
  try {
    await daemon.panel.post(`/servers/${uuid}/transfer/failure`, null)
    return true
  } catch (error) {
    daemon.log(`${uuid}: the panel did not take the failure of the transfer: ${describe(error)}`)
    return false
  }
}
