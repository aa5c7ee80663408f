import { and, asc, eq, isNull } from 'drizzle-orm'
import { allocations, nodes, servers } from '../../db/schema.ts'
import type { BulkOperation } from '../../db/tables/bulk-operations.ts'
import type { PowerSignal } from '../../adapters/daemon.ts'
import { ApiError, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { hasOpenTransfer } from '../servers/access.ts'
import { sendPowerSignal } from '../servers/control.ts'
import { deleteServer } from '../servers/delete.ts'
import { noViableAllocation } from '../servers/deploy.ts'
import { reinstallServer } from '../servers/reinstall.ts'
import { refuseConflict } from '../servers/state.ts'
import { setSuspended } from '../servers/suspension.ts'
import { startTransfer } from '../transfers/start.ts'

/** How often a transfer chooses allocations that others take meanwhile. */
const maxChoices = 3

/** Does the action to one server, as its own route does. Refuses as that route does. */
export async function performAction(
  panel: Panel,
  { action, parameters }: Pick<BulkOperation, 'action' | 'parameters'>,
  serverId: number,
): Promise<void> {
  switch (action) {
    case 'power':
      return powerServer(panel, serverId, parameters.signal ?? 'start')
    case 'suspend':
      return setSuspended(panel, serverId, true)
    case 'unsuspend':
      return setSuspended(panel, serverId, false)
    case 'reinstall':
      return reinstallServer(panel, serverId)
    case 'transfer':
      return transferServer(panel, serverId, parameters.nodeId ?? 0)
    case 'delete':
      return deleteServer(panel, serverId, parameters.force ?? false)
  }
}

async function powerServer(panel: Panel, serverId: number, signal: PowerSignal): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes, isTransferring: hasOpenTransfer() })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, serverId))
  if (!found) throw notFound()
  refuseConflict(found)
  await sendPowerSignal(panel, found, signal)
}

/** Starts a transfer to free allocations of the node, as many as the server has. */
async function transferServer(panel: Panel, serverId: number, nodeId: number): Promise<void> {
  for (let choice = 1; ; choice += 1) {
    const [allocation, ...additional] = await chooseAllocations(panel, serverId, nodeId)
    const input = { node: nodeId, allocation: allocation ?? 0, additional_allocations: additional }
    try {
      await startTransfer(panel, serverId, input)
      return
    } catch (error) {
      const isTaken = error instanceof ApiError && error.status === 422
      if (!isTaken || choice === maxChoices) throw error
    }
  }
}

async function chooseAllocations(panel: Panel, serverId: number, nodeId: number): Promise<number[]> {
  const count = await panel.db.$count(allocations, eq(allocations.serverId, serverId))
  if (count === 0) throw notFound()
  const free = await panel.db
    .select({ id: allocations.id })
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodeId), isNull(allocations.serverId)))
    .orderBy(asc(allocations.ip), asc(allocations.port))
    .limit(count)
  if (free.length < count) throw noViableAllocation()
  return free.map(({ id }) => id)
}
