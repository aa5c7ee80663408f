import { and, eq, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import { servers, serverStates, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { ProcessState } from '../../db/tables/server-states.ts'
import type { Panel } from '../../panel.ts'
import { serverNotFound, serverOfAnotherNode } from '../nodes/servers.ts'
import { matchesServerIdentifier, parseServerIdentifier } from './identifiers.ts'
import { renewState } from './stats.ts'

const PowerState = () => z.enum(['offline', 'starting', 'running', 'stopping'])

/** The body of a pushed change of state. */
export const ContainerStatus = () =>
  z.object({ data: z.object({ previous_state: PowerState(), new_state: PowerState() }) })

/**
 * Stores the state of a server that its daemon has pushed, and renews what is cached about it, in one statement. During a transfer the
 * push of the new node changes nothing, since the server still runs on the old one. Refuses with 404, with 403 a
 * server of another node. Wings: POST /servers/{uuid}/container/status.
 */
export async function recordContainerStatus(
  panel: Panel,
  node: Node,
  identifier: string,
  { data }: z.output<ReturnType<typeof ContainerStatus>>,
): Promise<void> {
  const [row] = await panel.db
    .with(storedState(panel, node, identifier, data.new_state))
    .select({ uuid: servers.uuid, nodeId: servers.nodeId, newNodeId: transfers.newNodeId })
    .from(servers)
    .leftJoin(transfers, and(eq(transfers.serverId, servers.id), isNull(transfers.successful)))
    .where(matchesServerIdentifier(parseServerIdentifier(identifier)))
  if (!row) throw serverNotFound()
  if (row.nodeId === node.id) return renewState(panel, row.uuid, data.new_state)
  if (row.newNodeId !== node.id) throw serverOfAnotherNode()
}

/** Stores the state when it has changed, where lists are sorted and filtered by it; heartbeats are a minute late. */
const storedState = (panel: Panel, node: Node, identifier: string, state: ProcessState) =>
  panel.db.$with('stored', { id: serverStates.id }).as(sql`
    insert into ${serverStates} as t (server_id, state, since)
    select ${servers.id}, ${state}::text, ${panel.now().toISOString()}::timestamptz from ${servers}
    where ${matchesServerIdentifier(parseServerIdentifier(identifier))} and ${servers.nodeId} = ${node.id}
    on conflict (server_id) do update set state = excluded.state, since = excluded.since
    where t.state <> excluded.state and t.since <= excluded.since
    returning server_id`)
