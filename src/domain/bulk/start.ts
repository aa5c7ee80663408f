import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { bulkItems, bulkOperations, nodes } from '../../db/schema.ts'
import { bulkActions, type BulkParameters } from '../../db/tables/bulk-operations.ts'
import { inTransaction, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { callerKeyId, requireCaller } from '../auth/caller.ts'
import { boolean, rowId } from '../fields.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import { PowerInput } from '../servers/control.ts'
import { invalidField } from '../validation.ts'

/** Most servers of one operation. */
const maxServers = 500
/** Seconds for which the job is tried while the database fails; items that were not begun in time fail before. */
export const bulkJobLifetimeSeconds = 30 * 86_400

/** Key of the job of an operation. */
export const bulkJobKey = (operationId: number) => `run-bulk-operation:${operationId}`

/** One action on many servers. `power` needs a `signal`, `transfer` the `node`; `force` is for `delete`. */
export const BulkInput = () =>
  z.object({
    action: z.enum(bulkActions),
    servers: z.array(rowId()).min(1, 'min').max(maxServers, 'max'),
    signal: PowerInput().shape.signal.nullish(),
    node: rowId().nullish(),
    force: boolean().nullish(),
  })
type BulkInput = z.output<ReturnType<typeof BulkInput>>

/**
 * Stores an action on many servers and returns its id; a job does it server by server, with the levels that the caller
 * has then. A server that is named twice counts once. Refuses with 422 `power` without a signal, and `transfer` without
 * a node that exists. Records `admin:bulk.start`. Spec: docs/servers.md#bulk-actions.
 */
export async function startBulkOperation(panel: Tx, input: BulkInput): Promise<number> {
  const { ip } = panel
  const userId = requireCaller(panel).id
  const apiKeyId = callerKeyId(panel)
  const serverIds = [...new Set(input.servers)]
  return inTransaction(panel, async (tx) => {
    const { action } = input
    const parameters = await parametersOf(tx, input)
    const row = { action, parameters, userId, apiKeyId, ip, createdAt: tx.now() }
    const { id } = single(await tx.db.insert(bulkOperations).values(row).returning({ id: bulkOperations.id }))
    await tx.db.insert(bulkItems).values(serverIds.map((serverId) => ({ operationId: id, serverId })))
    await enqueueJob(
      tx,
      'run-bulk-operation',
      { operationId: id },
      { key: bulkJobKey(id), lifetimeSeconds: bulkJobLifetimeSeconds },
    )
    await recordEvent(tx, 'admin:bulk.start', { properties: { action, servers: serverIds.length } })
    return id
  })
}

/** Returns what the action needs, without what belongs to others. */
async function parametersOf(tx: Tx, { action, signal, node, force }: BulkInput): Promise<BulkParameters> {
  if (action === 'delete') return { force: force ?? false }
  if (action === 'power') {
    if (!signal) throw invalidField('signal', 'required', 'The signal is required.')
    return { signal }
  }
  if (action !== 'transfer') return {}
  if (!node) throw invalidField('node', 'required', 'The node is required.')
  const isKnown = (await tx.db.$count(nodes, eq(nodes.id, node))) > 0
  if (!isKnown) throw invalidField('node', 'exists', 'The node does not exist.')
  return { nodeId: node }
}
