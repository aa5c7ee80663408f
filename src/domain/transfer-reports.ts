import type { Node } from '../db/tables/nodes.ts'
import { conflict, forbidden } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { foreignServer, lockNamedServer } from './node-servers.ts'
import { endTransfer, newestTransfer } from './transfer-endings.ts'

/**
 * The transfer of a server has ended as one of its nodes says: either may report a failure, only the new one a
 * success. Then the server stands on that node for good, and a job has the other one remove it.
 *
 * Refuses with 404 an unknown server, with 403 a node that has nothing to do with it and a success from the old
 * one, with 409 when it is not being transferred: a late or second report changes nothing.
 * Spec: Remote API, transfer. Wings: POST /servers/{uuid}/transfer/success, …/failure
 */
export function finishTransfer(panel: Panel, node: Node, name: string, successful: boolean): Promise<void> {
  return inTransaction(panel, async (inner) => {
    const server = await lockNamedServer(inner, name)
    const transfer = await newestTransfer(inner, server.id)
    const involved = [server.nodeId, transfer?.oldNodeId, transfer?.newNodeId]
    if (!involved.includes(node.id)) throw foreignServer()
    if (transfer?.successful !== null) throw conflict('The server is not being moved to another node.')
    if (successful && node.id !== transfer.newNodeId) {
      throw forbidden('Only the node to which the server moves may say that it arrived.')
    }
    await endTransfer(inner, { server, transfer }, successful)
  })
}
