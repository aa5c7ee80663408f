import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Daemon } from './daemon.ts'
import { publish, type GameServer, type ServerTransfer } from './game-server.ts'
import { describeError } from './panel-client.ts'
import { stopWithin } from './power.ts'
import { packDirectory } from './transfer-archive.ts'

/** The target of a transfer; `token` is the whole Authorization header. */
export type Destination = { url: string; token: string }

const stopTimeoutMs = 15_000

/**
 * Stops the server and sends its files in the background; no power action is possible until the server is deleted or
 * the transfer fails. False, with nothing changed, when it does not stop. Wings: POST /api/servers/{uuid}/transfer
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
  if (!(await stopWithin(daemon, server, stopTimeoutMs))) {
    server.transfer = undefined
    return false
  }
  transfer.ended = runTransfer(daemon, server, destination, cancellation.signal).then(() => {
    // The files are sent: an abort only unlocks the server.
    transfer.abort = () => void (server.transfer = undefined)
  })
  return true
}

/** Sends the server and reports a failure. A success is reported by the target. */
async function runTransfer(
  daemon: Daemon,
  server: GameServer,
  destination: Destination,
  signal: AbortSignal,
): Promise<void> {
  try {
    publish(server, 'transfer status', 'processing')
    publish(server, 'transfer logs', 'Sending the files of the server to the other node.')
    await sendFiles(server, destination, signal)
    publish(server, 'transfer logs', 'The other node has received the files of the server.')
  } catch (error) {
    if (server.deleted || daemon.closing) return
    daemon.log(`${server.uuid}: the transfer failed: ${describeError(error)}`)
    server.transfer = undefined
    publish(server, 'transfer logs', `The transfer failed: ${describeError(error)}`)
    publish(server, 'transfer status', 'failure')
    await reportFailure(daemon, server.uuid)
  }
}

async function sendFiles(
  server: GameServer,
  { url, token }: Destination,
  signal: AbortSignal,
): Promise<void> {
  const boundary = `transfer-${randomUUID()}`
  const request = {
    method: 'POST',
    headers: { Authorization: token, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Readable.toWeb(Readable.from(encodeForm(server.directory, boundary))) as ReadableStream,
    duplex: 'half',
    signal,
  }
  const answer = await fetch(url, request)
  if (!answer.ok)
    throw new Error(`the target answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
  await answer.body?.cancel()
}

/** Encodes a multipart form of the archive and its SHA-256. */
async function* encodeForm(directory: string, boundary: string): AsyncGenerator<Buffer> {
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

/** Reports to the panel that a transfer has failed; false when it refuses. Wings: POST …/transfer/failure */
export async function reportFailure(daemon: Daemon, uuid: string): Promise<boolean> {
  try {
    await daemon.panel.post(`/servers/${uuid}/transfer/failure`, null)
    return true
  } catch (error) {
    daemon.log(`${uuid}: the panel refused the failure of the transfer: ${describeError(error)}`)
    return false
  }
}
