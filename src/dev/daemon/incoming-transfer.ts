import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Daemon } from './daemon.ts'
import { publish, registerServer, type GameServer } from './game-server.ts'
import { readParts } from './multipart-parts.ts'
import { reportFailure } from './outgoing-transfer.ts'
import { describeError, PanelError } from './panel-client.ts'
import type { ServerConfiguration } from './server-configuration.ts'
import { unpackInto } from './transfer-archive.ts'

/**
 * Receives a server from another node and reports the success to the panel. Rejects when the body is not a whole
 * archive with its checksum or the panel refuses the success; then the server is removed from this node and the
 * failure reported. Wings: POST /api/transfers
 */
export async function receiveServer(
  daemon: Daemon,
  configuration: ServerConfiguration,
  request: IncomingMessage,
  boundary: string,
): Promise<void> {
  rmSync(join(daemon.settings.dataDirectory, 'volumes', configuration.uuid), { recursive: true, force: true })
  const server = registerServer(daemon, configuration)
  const ended = Promise.withResolvers<void>()
  server.transfer = { direction: 'incoming', abort: () => void request.destroy(), ended: ended.promise }
  try {
    publish(server, 'transfer status', 'processing')
    await receiveFiles(server, request, boundary)
    if (!(await confirmArrival(daemon, server.uuid))) throw new Error('the panel refused the transfer')
    daemon.states.record(server.uuid, server.state)
    server.transfer = undefined
    publish(server, 'transfer status', 'success')
  } catch (error) {
    daemon.log(`${server.uuid}: the transfer was not received: ${describeError(error)}`)
    await discardServer(daemon, server)
    if (!daemon.closing) await reportFailure(daemon, server.uuid)
    throw error
  } finally {
    ended.resolve()
  }
}

async function receiveFiles(server: GameServer, request: IncomingMessage, boundary: string): Promise<void> {
  const hash = createHash('sha256')
  let checksum: string | undefined
  let hasArchive = false
  for await (const { name, content } of readParts(request, boundary)) {
    if (name === 'archive' && !hasArchive) {
      hasArchive = true
      publish(server, 'transfer logs', 'Writing the files of the server.')
      await unpackInto(server.directory, content, (chunk) => hash.update(chunk))
    } else if (name === 'checksum') {
      checksum = await readText(content)
    }
  }
  if (!hasArchive || checksum === undefined) throw new Error('the archive or its checksum is missing')
  if (checksum !== hash.digest('hex')) throw new Error('the checksum does not match the archive')
}

async function readText(content: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8').trim()
}

/**
 * Reports to the panel that the server has arrived; false when the panel says it is elsewhere. A refusal alone is not
 * enough: the response to an earlier attempt may have been lost, and this may be the only copy.
 */
async function confirmArrival(daemon: Daemon, uuid: string): Promise<boolean> {
  try {
    await daemon.panel.post(`/servers/${uuid}/transfer/success`, null)
    return true
  } catch (error) {
    daemon.log(`${uuid}: the panel refused the success of the transfer: ${describeError(error)}`)
  }
  if (await reportFailure(daemon, uuid)) return false
  try {
    await daemon.panel.get(`/servers/${uuid}`)
    return true
  } catch (error) {
    return !(error instanceof PanelError && (error.status === 403 || error.status === 404))
  }
}

async function discardServer(daemon: Daemon, server: GameServer): Promise<void> {
  publish(server, 'transfer status', 'failure')
  server.deleted = true
  for (const socket of server.sockets) socket.close(1001, 'server deleted')
  if (daemon.servers.get(server.uuid) === server) daemon.servers.delete(server.uuid)
  // A file may still be written.
  await rm(server.directory, { recursive: true, force: true, maxRetries: 5 })
}
