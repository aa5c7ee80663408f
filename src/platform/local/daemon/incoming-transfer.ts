import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Daemon } from './daemon.ts'
import { publish, registerServer, type GameServer } from './game-server.ts'
import { readParts } from './multipart-parts.ts'
import { reportFailure } from './outgoing-transfer.ts'
import { describe, PanelError } from './panel-client.ts'
import type { ServerConfiguration } from './server-configuration.ts'
import { unpackInto } from './transfer-archive.ts'

/**
 * Takes a server from another node: its files are in place and the panel has it stand here afterwards. Rejects,
 * with nothing left of it and the failure reported, when the body is no whole archive with its checksum, or the
 * panel does not take the success. Wings: POST /api/transfers
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
    if (!(await hasArrived(daemon, server.uuid))) throw new Error('the panel did not take the transfer')
    daemon.states.record(server.uuid, server.state)
    server.transfer = undefined
    publish(server, 'transfer status', 'success')
  } catch (error) {
    daemon.log(`${server.uuid}: not received: ${describe(error)}`)
    await forgetServer(daemon, server)
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
      publish(server, 'transfer logs', 'The files of the server are written.')
      await unpackInto(server.directory, content, (chunk) => hash.update(chunk))
    } else if (name === 'checksum') {
      checksum = await readText(content)
    }
  }
  if (!hasArchive || checksum === undefined) throw new Error('archive or checksum is missing')
  if (checksum !== hash.digest('hex')) throw new Error('the archive does not have its checksum')
}

async function readText(content: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8').trim()
}

/**
 * Tells the panel that the server is here. Where it does not agree its answer to an earlier attempt may have been
 * lost; then this copy may be the only one: it is given up only when the panel says that it stands elsewhere.
 */
async function hasArrived(daemon: Daemon, uuid: string): Promise<boolean> {
  try {
    await daemon.panel.post(`/servers/${uuid}/transfer/success`, null)
    return true
  } catch (error) {
    daemon.log(`${uuid}: the panel did not take the success of the transfer: ${describe(error)}`)
  }
  if (await reportFailure(daemon, uuid)) return false
  try {
    await daemon.panel.get(`/servers/${uuid}`)
    return true
  } catch (error) {
    return !(error instanceof PanelError && (error.status === 403 || error.status === 404))
  }
}

async function forgetServer(daemon: Daemon, server: GameServer): Promise<void> {
  publish(server, 'transfer status', 'failure')
  server.deleted = true
  for (const socket of server.sockets) socket.close(1001, 'server deleted')
  if (daemon.servers.get(server.uuid) === server) daemon.servers.delete(server.uuid)
  // A file may still be on its way to the disk.
  await rm(server.directory, { recursive: true, force: true, maxRetries: 5 })
}
