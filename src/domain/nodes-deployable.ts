import * as z from 'zod'
import { paginate, type RowPage } from '../db/pagination.ts'
import { fieldsOf } from '../db/relations.ts'
import { nodes } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Panel } from '../panel.ts'
import { integer, rowId } from './fields.ts'
import { isViable, noNode } from './servers/deploy.ts'

const defaultPerPage = 50
const mostPerPage = 500
const deepestPage = 10_000_000
/** All nodes: more cannot be asked for. */
const everyNode = 2_147_483_647

/** Memory and disk in MiB. Spec: Application API, nodes/deployable. */
export const DeployableQuery = () =>
  z.object({
    memory: integer(0),
    disk: integer(0),
    location_ids: z.array(rowId()).max(1000, 'max').nullish(),
    page: integer(1, deepestPage).nullish(),
    per_page: integer(1, mostPerPage).nullish(),
  })
type DeployableQuery = z.output<ReturnType<typeof DeployableQuery>>

/**
 * The nodes that can take a server of this size, by id: one page of them, or all when no page is named.
 * Refuses with 400 `NoViableNodeException` when there is none. Spec: Application API, nodes/deployable.
 */
export async function listDeployableNodes(
  panel: Panel,
  request: DeployableQuery,
  include: string[],
): Promise<RowPage<Node>> {
  const { memory, disk } = request
  const found = await paginate(panel.db, {
    table: nodes,
    fields: fieldsOf('node', nodes, include),
    where: isViable(request.location_ids ?? [], { memory, disk }),
    page: request.page ?? 1,
    perPage: request.page ? (request.per_page ?? defaultPerPage) : everyNode,
  })
  if (found.total === 0) throw noNode()
  return found
}
