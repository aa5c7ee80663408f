import { type Context, Hono } from 'hono'
import * as z from 'zod'
import {
  addAllocations,
  allocationFilters,
  AllocationsInput,
  listAllocations,
  removeAllocation,
} from '../../domain/allocations/node-allocations.ts'
import { AliasInput, changeAlias, DeletionInput, removeAllocations } from '../../domain/allocations/bulk.ts'
import { pathId } from '../../domain/fields.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { readQuery } from '../../http/input.ts'
import { listing, type ListQuery } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerPage } from './answers.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { AllocationResource } from './resources/allocation.ts'

const NodeParams = () => z.object({ node: pathId() })
const AllocationParams = () => z.object({ node: pathId(), allocation: pathId() })
const listOptions = { filters: allocationFilters, perPage: 50, maxPerPage: 500 }

/** Keeps `filter[server_id]` without a value, which means unassigned; lists drop other empty filters. */
async function withEmptyServer(c: Context, query: ListQuery): Promise<ListQuery> {
  const { filter } = await readQuery(c)
  const isSent = typeof filter === 'object' && filter !== null && Object.hasOwn(filter, 'server_id')
  return isSent ? { ...query, filters: { server_id: [], ...query.filters } } : query
}

/** Spec: docs/remote.md#allocations-of-a-node. */
export const allocations = new Hono<HttpEnv>()
  .get(
    '/:node/allocations',
    summary('List the allocations of a node'),
    acl('allocations', 'read'),
    params(NodeParams),
    listing(listOptions),
    returns(200, AllocationResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'allocation')
      const { node } = c.req.valid('param')
      const query = await withEmptyServer(c, c.req.valid('query'))
      const page = await listAllocations(c.var.panel, node, query, includes.allowed)
      return answerPage(c, 'allocation', page, includes)
    },
  )

  .post(
    '/:node/allocations',
    summary('Create allocations for a node'),
    acl('allocations', 'write'),
    params(NodeParams),
    body(AllocationsInput),
    returns(204),
    async (c) => {
      await addAllocations(c.var.panel, c.req.valid('param').node, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .patch(
    '/:node/allocations',
    summary('Set the alias of many allocations'),
    acl('allocations', 'write'),
    params(NodeParams),
    body(AliasInput),
    returns(204),
    async (c) => {
      await changeAlias(c.var.panel, c.req.valid('param').node, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/:node/allocations/delete',
    summary('Delete many unassigned allocations'),
    acl('allocations', 'write'),
    params(NodeParams),
    body(DeletionInput),
    returns(204),
    async (c) => {
      await removeAllocations(c.var.panel, c.req.valid('param').node, c.req.valid('json').allocations)
      return c.body(null, 204)
    },
  )

  // Before the routes of one allocation.
  .use('/:node/allocations/delete', refuseOtherMethods)

  .delete(
    '/:node/allocations/:allocation',
    summary('Delete an unassigned allocation'),
    acl('allocations', 'write'),
    params(AllocationParams),
    returns(204),
    async (c) => {
      const { node, allocation } = c.req.valid('param')
      await removeAllocation(c.var.panel, node, allocation)
      return c.body(null, 204)
    },
  )
