import * as z from 'zod'
import { unlimitedCount } from '../../db/page-ids.ts'
import { type RowPage } from '../../db/pagination.ts'
import { listRows } from '../../db/related-rows.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Panel } from '../../panel.ts'
import { integer, rowId } from '../fields.ts'
import { isViableNode, noViableNode } from '../servers/deploy.ts'

const defaultPerPage = 50
const maxPerPage = 500
const maxPage = 10_000_000

/** The size of a server, memory and disk in MiB. Spec: getApplicationNodesDeployable. */
export const DeployableQuery = () =>
  z.object({
    memory: integer(0),
    disk: integer(0),
    location_ids: z.array(rowId()).max(1000, 'max').nullish(),
    page: integer(1, maxPage).nullish(),
    per_page: integer(1, maxPerPage).nullish(),
  })
type DeployableQuery = z.output<ReturnType<typeof DeployableQuery>>

/**
 * Lists the nodes with room for a server of this size, by id: one page, or all when no page is named. Refuses
 * with 400 `NoViableNodeException` when there is none. Spec: getApplicationNodesDeployable.
 */
export async function listDeployableNodes(
  panel: Panel,
  request: DeployableQuery,
  include: string[],
): Promise<RowPage<Node>> {
  const { memory, disk } = request
  const found = await listRows<Node>(panel.db, 'node', {
    include,
    where: isViableNode(request.location_ids ?? [], { memory, disk }),
    page: request.page ?? 1,
    perPage: request.page ? (request.per_page ?? defaultPerPage) : unlimitedCount,
  })
  if (found.total === 0) throw noViableNode()
  return found
}
